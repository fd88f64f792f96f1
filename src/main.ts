import { Command, CommanderError } from 'commander';
import { fail } from './cli/command.ts';
import { commands } from './cli/commands.ts';

const program = new Command('innbound')
  .description('Collects hotel reservations by pull and push, makes them one schema, and delivers every change.')
  .version('0.1.0')
  .showSuggestionAfterError()
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

// `innbound … | head`: whoever read the output has enough of it.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

for (const register of commands) register(program);
program.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else fail(error, process.argv.includes('--json'));
}
