import type { Command } from 'commander';
import { runDemo } from '../../packages/demo/src/run.ts';
import { portNumber } from './port-number.ts';

export function define(command: Command): void {
  command
    .option('-p, --port <n>', 'the port of the service', portNumber, 4180)
    .option('-w, --workspace <dir>', 'the folder for the demo’s workspace and data', 'demo')
    .addHelpText(
      'after',
      `
Stop it with Ctrl-C; the next start continues where it stopped. Delete the folder to start over.`,
    )
    .action((options: { port: number; workspace: string }) => runDemo(options));
}
