import { Command, CommanderError } from 'commander';
import { printable } from '../../packages/partner-kit/src/terminal/printable.ts';
import { InnboundError } from '../errors.ts';
import { version } from '../kit/version.ts';
import { fail } from './command.ts';
import { addCommands } from './commands.ts';
import { io } from './io.ts';

/** Runs one command line; the result is its output and its exit code. */
export async function run(args: readonly string[]): Promise<void> {
  // With --json, usage errors are JSON too.
  const wantsJson = args.includes('--json');
  const program = new Command('innbound')
    .description(
      'Collects hotel reservations by pull and push, converts them to one schema, and delivers every change.',
    )
    .version(version)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io().stdout.write(printable(text)),
      writeErr: (text) => void (wantsJson || io().stderr.write(printable(text))),
    })
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
  const [first, second] = args.filter((word) => !word.startsWith('-'));
  await addCommands(program, first === 'help' ? second : first);
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) fail(error, wantsJson);
    else if (error.exitCode !== 0 && wantsJson) fail(new InnboundError('operate.usage', usageMessage(error)), true);
    else io().exitCode = error.exitCode;
  }
}

function usageMessage({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'No command was given.' : message.replace(/^error: /, '').replaceAll('\n', ' ');
}
