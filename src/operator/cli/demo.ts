import { runDemo } from '../../../packages/demo/src/run.ts';
import type { Command } from './command.ts';
import { between, portNumber } from './input.ts';
import { say } from './io.ts';
import { stopInTime } from './serve.ts';

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
      between(Number, 1, Number.POSITIVE_INFINITY, 'a number of seconds, at least 1'),
    )
    .option(
      '--onboard',
      'adds a brand that a simulated partner connects through an onboarding link, with the usual mistakes',
    )
    .notes(`
Stop it with Ctrl-C; the next start continues where it stopped. Delete the folder to start over.`)
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
