import { type Command, InvalidArgumentError } from 'commander';
import { runDemo } from '../../packages/demo/src/run.ts';
import { say } from './command.ts';
import { portNumber } from './option-values.ts';
import { stopInTime } from './serving.ts';

export function define(command: Command): void {
  command
    .option('-p, --port <n>', 'the port of the service', portNumber, 4180)
    .option('-w, --workspace <dir>', 'the folder for the demo’s workspace and data (default: demo, or demo-trouble)')
    .option(
      '--trouble [seconds]',
      'adds a third hotel whose faults come and go; how long each lasts (default: 120)',
      secondsAtLeastOne,
    )
    .addHelpText(
      'after',
      `
Stop it with Ctrl-C; the next start continues where it stopped. Delete the folder to start over.`,
    )
    .action(({ port, workspace, trouble }: { port: number; workspace?: string; trouble?: true | number }) =>
      runDemo({
        port,
        workspace: workspace ?? (trouble === undefined ? 'demo' : 'demo-trouble'),
        troubleSeconds: trouble === true ? 120 : trouble,
        say,
        stop: stopInTime,
      }),
    );
}

function secondsAtLeastOne(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1)) throw new InvalidArgumentError('Expected a number of seconds, at least 1.');
  return seconds;
}
