import { Command, CommanderError } from 'commander';
import { fail } from './cli/command.ts';
import { addCommands } from './cli/commands.ts';
import { InnboundError } from './errors.ts';
import { version } from './kit/version.ts';

// With --json, usage errors are JSON too.
const wantsJson = process.argv.includes('--json');

const program = new Command('innbound')
  .description('Collects hotel reservations by pull and push, converts them to one schema, and delivers every change.')
  .version(version)
  .showSuggestionAfterError()
  .exitOverride()
  .configureOutput({ writeErr: (text) => void (wantsJson || process.stderr.write(text)) })
  .addHelpText(
    'after',
    `
First steps:
  innbound demo                        a simulated hotel group, pulled and pushing, into files and tables
  innbound init my-workspace           a commented workspace to edit
  innbound validate -w my-workspace    every mistake with file, line and column
  innbound serve -w my-workspace       apply the documents and run

Each command explains itself: innbound COMMAND --help. Errors have stable codes: docs/errors.md.`,
  );

// `innbound … | head` closes our output early; that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

// A full disk or a closed terminal under standard error must not end a service.
process.stderr.on('error', () => {});

const [first, second] = process.argv.slice(2).filter((word) => !word.startsWith('-'));
await addCommands(program, first === 'help' ? second : first);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) fail(error, wantsJson);
  else if (error.exitCode !== 0 && wantsJson) fail(new InnboundError('operate.usage', usageMessage(error)), true);
  else process.exitCode = error.exitCode;
}

function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'No command was given.' : message.replace(/^error: /, '').replaceAll('\n', ' ');
}
