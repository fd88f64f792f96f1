import { type Command, InvalidArgumentError, Option } from 'commander';
import { ended } from '../../packages/partner-kit/src/terminal/ended.ts';
import type { Role } from '../service.ts';
import { type CommonOptions, common, say } from './command.ts';
import { portNumber } from './option-values.ts';
import { stopInTime } from './serving.ts';

interface ServeOptions extends CommonOptions {
  readonly port: number;
  readonly host: string;
  readonly role: Role;
  readonly grace: number;
}

export function define(command: Command): void {
  common(command)
    .option('-p, --port <n>', 'the port to listen on', portNumber, 4180)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .addOption(
      new Option('--role <role>', 'web: webhooks and HTTP; worker: pulling, processing, delivering')
        .choices(['all', 'web', 'worker'])
        .default('all'),
    )
    .option(
      '--grace <seconds>',
      'after SIGTERM, accept events for this long while /readyz already answers 503',
      seconds,
      0,
    )
    .addHelpText(
      'after',
      `
Ready when GET /readyz answers 200. SIGTERM or Ctrl-C stops it: it accepts nothing new, finishes its work and exits.
Without DATABASE_URL it runs a private PostgreSQL in the workspace's .innbound folder. With it, several nodes may run the
same workspace against one database.

Examples:
  innbound serve -w my-workspace --port 8080
  DATABASE_URL=postgres://… innbound serve -w my-workspace --role worker`,
    )
    .action(async (options: ServeOptions) => {
      const end = ended();
      const { startService } = await import('../service.ts');
      const service = await startService({
        workspaceDir: options.workspace,
        port: options.port,
        host: options.host,
        role: options.role,
      });
      const serves = options.role === 'worker' ? '/readyz, /healthz, /metrics' : 'console, API, webhooks, /readyz';
      say(`innbound is ready on ${service.url} (${serves}). Stop it with Ctrl-C.`);
      const lost = await Promise.race([end, service.runtime.lost]);
      say('innbound is finishing its work …');
      await stopInTime(service, lost ? 0 : options.grace * 1_000);
      if (lost) throw lost;
    });
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 15)) throw new InvalidArgumentError('Expected 0 to 15 seconds.');
  return value;
}
