import type { Command } from 'commander';
import { runDemo } from '../demo/run.ts';
import { portNumber } from './serve.ts';

export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description('a simulated hotel group, pulled and pushing, into files and tables; nothing to configure')
    .option('-p, --port <n>', 'the port of the service', portNumber, 4180)
    .option('-w, --workspace <dir>', 'where the demo keeps its workspace and data', 'demo')
    .addHelpText(
      'after',
      `
Ctrl-C ends it; started again it goes on where it was. Delete the folder to begin anew.`,
    )
    .action((options: { port: number; workspace: string }) => runDemo(options));
}
