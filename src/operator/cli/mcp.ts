import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ended } from '../../../packages/partner-kit/src/terminal.ts';
import { mcpServer, serveHttp } from '../mcp/server.ts';
import type { Command } from './command.ts';
import { portNumber, secretFrom } from './input.ts';
import { say } from './io.ts';

interface Options {
  readonly server: string;
  readonly tokenEnv: string;
  readonly tokenFile?: string;
  readonly port?: number;
  readonly write?: boolean;
}

export function define(command: Command): void {
  command
    .option('--server <url>', 'the service to ask', 'http://127.0.0.1:4180')
    .option('--token-env <name>', 'the variable that holds a token of the service', 'INNBOUND_TOKEN')
    .option('--token-file <file>', 'a file that holds the token, instead of a variable')
    .option('-p, --port <n>', 'serve by HTTP on this port of 127.0.0.1; clients send their own token', portNumber)
    .option('--write', 'also offer tools that change something, such as replaying a dead letter')
    .notes(`
The token decides what an assistant sees: a viewer sees guest data masked, a token limited to brands sees these brands.

Examples:
  INNBOUND_TOKEN=… innbound mcp
  innbound mcp --port 4190`)
    .action(async ({ server: service, tokenEnv, tokenFile, port, write }: Options) => {
      const options = { service, write: write === true };
      const end = ended();
      if (port === undefined) {
        const token = await secretFrom({ env: tokenEnv, file: tokenFile });
        const served = serveStdio(() => mcpServer(options, token));
        await Promise.race([end, new Promise((resolve) => process.stdin.once('end', resolve))]);
        return served.close();
      }
      const served = await serveHttp(options, port);
      say(`Tools for assistants at ${served.url}, for tokens of ${service}.`);
      await end;
      await served.close();
    });
}
