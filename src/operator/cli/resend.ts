import { deliverPorts } from '../../composition/deliver.ts';
import { drainOnce } from '../../core/deliver/deliveries.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName } from '../../terms.ts';
import { jobRoutes } from '../api/routes/jobs.ts';
import { resendDelivery, resendRecords } from '../operations/resend.ts';
import { call } from './call.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { say } from './io.ts';
import { print } from './print.ts';
import { rowProgress } from './progress.ts';

interface Options extends CommonOptions {
  readonly integration?: string;
  readonly id?: string;
  readonly preview?: boolean;
}

export function define(command: Command): void {
  command
    .common()
    .option('-i, --integration <name>', 'only this integration')
    .option('--preview', 'only show who would be sent, who is left out and why')
    .option('--id <id>', 'only this reservation or guest of the integration')
    .notes(`
Each record is sent with its original idempotency key and version, so a destination that already has it does not change.
Only the files and s3 destinations write it a second time. Progress goes to standard error. A resend that the
console or POST /api/v1/jobs has started shows its progress there.

Example:
  innbound resend warehouse --integration lisbon-grand
  innbound resend crm --preview
  innbound resend crm --integration lisbon-grand --id R-1042`)
    .inRuntime((runtime, name: string, options: Options) => run(runtime, name, options));
}

async function run(runtime: Runtime, destination: string, options: Options): Promise<void> {
  const { integration, id } = options;
  if (id !== undefined && integration === undefined) {
    throw new InnboundError(
      'operate.invalid_input',
      'An id is unique only within its integration: give --integration too.',
    );
  }
  if (options.preview) {
    const body = { operation: 'resend', destination, integration };
    return print(options, await call(runtime, jobRoutes, 'jobs.preview', { body }));
  }
  const progress = rowProgress();
  const { queued, integrations } = await resendRecords(runtime, { destination, integration, id }, (so) =>
    progress.show(so, so, 'queued'),
  );
  const target = { destination, records: queued, ...(id !== undefined && { id }) };
  await audited(runtime, 'integrations.resend', { integration, target });
  progress.end();
  const outbound = await deliverPorts(runtime);
  const counts = { delivered: 0, skipped: 0, retry: 0, dead: 0 };
  const names = Object.keys(counts) as (keyof typeof counts)[];
  for (const brand of integrations) {
    const before = counts.delivered + counts.skipped;
    const done = await drainOnce(outbound, { integration: brand as IntegrationName }, ({ delivered, skipped }) =>
      progress.show(before + delivered + skipped, queued, 'delivered'),
    );
    for (const name of names) counts[name] += done[name];
  }
  progress.end();
  const { waiting = 0, held = 0 } = (await resendDelivery(runtime, { destination, integration, id })) ?? {};
  print(options, { queued, ...counts, waiting, held });
  if (options.json) return;
  if (waiting > 0) say('A running service sends what waits, in preview once it is released.');
  if (held > 0) say('Records are held back by dead letters: innbound dead-letters list');
}
