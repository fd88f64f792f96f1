import { deliverPorts } from '../composition/deliver.ts';
import { drainOnce } from '../deliver/deliveries.ts';
import { InnboundError } from '../errors.ts';
import type { JobPreview } from '../operations/foresee-send.ts';
import { previewJob } from '../operations/jobs.ts';
import { resendDelivery, resendRecords } from '../operations/resend.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { IntegrationName } from '../terms.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { printJson, say } from './io.ts';
import { count, rowProgress } from './progress.ts';

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
    return showPreview(await previewJob(runtime, { operation: 'resend', destination, integration }), options);
  }
  const progress = rowProgress();
  const { queued, integrations } = await resendRecords(runtime, { destination, integration, id }, (so) =>
    progress.show(so, so, 'queued'),
  );
  const target = { destination, records: queued, ...(id !== undefined && { id }) };
  await audited(runtime, 'integrations.resend', { integration, target });
  progress.end();
  if (!options.json) say(`${count(queued, 'record')} queued for ${destination}.`);
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
  if (options.json) printJson({ queued, ...counts, waiting, held });
  else {
    say(`${counts.delivered} delivered here, ${counts.retry} to be retried, ${counts.dead} dead.`);
    const next = 'a running service sends them, in preview once they are released';
    if (waiting > 0) say(`Still waiting for ${destination}: ${count(waiting, 'record')}; ${next}.`);
    if (held > 0) say(`Held back by dead letters: ${count(held, 'record')}; see innbound dead-letters list.`);
  }
}

/** What a destination would get, before anything is sent. */
export function showPreview({ total, looked_at, counts, samples }: JobPreview, { json }: CommonOptions): void {
  if (json) {
    printJson({ total, looked_at, counts, samples });
    return;
  }
  say(`${count(total, 'record')}${looked_at === null ? '' : `, of which the first ${looked_at} were looked at`}:`);
  for (const { label, count: records } of counts) say(`  ${records} ${label}`);
  say(`Nothing was sent. Examples: ${samples.map(({ id }) => id).join(', ') || 'none'}.`);
}
