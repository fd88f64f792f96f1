import { type Command, InvalidArgumentError } from 'commander';
import { runDemo } from '../../packages/demo/src/run.ts';
import { say } from './command.ts';
import { portNumber } from './option-values.ts';
import { stopInTime } from './serving.ts';

interface Options {
  readonly port: number;
  readonly workspace?: string;
  readonly trouble?: true | number;
  readonly onboard?: boolean;
}

export function define(command: Command): void {
  command
    .option('-p, --port <n>', 'the port of the service', portNumber, 4180)
    .option(
      '-w, --workspace <dir>',
      'the folder for the demo’s workspace and data (default: demo, demo-trouble or demo-onboard)',
    )
    .option(
      '--trouble [seconds]',
      'adds a third hotel whose faults come and go; how long each lasts (default: 120)',
      secondsAtLeastOne,
    )
    .option(
      '--onboard',
      'adds a brand that a simulated partner connects through an onboarding link, with the usual mistakes',
    )
    .addHelpText(
      'after',
      `
Stop it with Ctrl-C; the next start continues where it stopped. Delete the folder to start over.`,
    )
    .action(({ port, workspace, trouble, onboard = false }: Options) =>
      runDemo({
        port,
        workspace: workspace ?? (onboard ? 'demo-onboard' : trouble === undefined ? 'demo' : 'demo-trouble'),
        troubleSeconds: trouble === true ? 120 : trouble,
        onboards: onboard,
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
