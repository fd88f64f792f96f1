import { run } from './operator/cli/run.ts';

// `innbound … | head` closes our output early; that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

// A full disk or a closed terminal under standard error must not end a service.
process.stderr.on('error', () => {});

await run(process.argv.slice(2));
