import { Option } from 'commander';
import { ended } from '../../../packages/partner-kit/src/terminal.ts';
import type { Role, Service } from '../../service.ts';
import type { Command, CommonOptions } from './command.ts';
import { between, portNumber } from './input.ts';
import { say } from './io.ts';

interface ServeOptions extends CommonOptions {
  readonly port: number;
  readonly host: string;
  readonly role: Role;
  readonly grace: number;
}

export function define(command: Command): void {
  command
    .common()
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
      between(Number, 0, 15, '0 to 15 seconds'),
      0,
    )
    .notes(`
Ready when GET /readyz answers 200. SIGTERM or Ctrl-C stops it: it accepts nothing new, finishes its work and exits.
Without DATABASE_URL it runs a private PostgreSQL in the workspace's .innbound folder. With it, several nodes may run the
same workspace against one database.

Examples:
  innbound serve -w my-workspace --port 8080
  DATABASE_URL=postgres://… innbound serve -w my-workspace --role worker`)
    .action(async (options: ServeOptions) => {
      const end = ended();
      const { startService } = await import('../../service.ts');
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

/** Exits within the 25 seconds that an operator waits, even if something hangs; another node or start continues the work. */
export async function stopInTime(service: Pick<Service, 'stop'>, graceMs = 0): Promise<void> {
  const timer = setTimeout(() => {
    say('innbound could not finish everything in time; the next start continues the rest.');
    process.exit(1);
  }, 23_000);
  await service.stop({ graceMs });
  clearTimeout(timer);
}
