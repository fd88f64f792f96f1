import type { Command } from 'commander';
import { drainOnce } from '../deliver/deliveries.ts';
import { InnboundError } from '../errors.ts';
import { resendRecords } from '../operations/resend.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { IntegrationName } from '../terms.ts';
import { deliverPorts } from '../wiring/deliver.ts';
import { audited, type CommonOptions, common, printJson, say, withRuntime } from './command.ts';

interface Options extends CommonOptions {
  readonly integration?: string;
  readonly id?: string;
}

export function registerResend(program: Command): void {
  common(program.command('resend <destination>'))
    .description('resend the newest version of every record to a destination that is new or lost its data')
    .option('-i, --integration <name>', 'only of this integration')
    .option('--id <id>', 'only this reservation or guest of the integration')
    .addHelpText(
      'after',
      `
Each record is sent with its original idempotency key and version, so a destination that already has it does not change.
Only the files destination writes it a second time.

Example:
  innbound resend warehouse --integration lisbon-grand
  innbound resend crm --integration lisbon-grand --id R-1042`,
    )
    .action((name: string, options: Options) =>
      withRuntime(options, 'resend', (runtime) => run(runtime, name, options)),
    );
}

async function run(runtime: Runtime, destination: string, options: Options): Promise<void> {
  const { integration, id } = options;
  if (id !== undefined && integration === undefined) {
    throw new InnboundError(
      'operate.invalid_input',
      'An id is unique only within its integration: give --integration too.',
    );
  }
  const { queued, integrations } = await resendRecords(runtime, { destination, integration, id });
  const target = { destination, records: queued, ...(id !== undefined && { id }) };
  await audited(runtime, 'integrations.resend', { integration, target });
  if (!options.json) say(`${queued} ${queued === 1 ? 'record' : 'records'} queued for ${destination}.`);
  const outbound = await deliverPorts(runtime);
  const counts = { delivered: 0, skipped: 0, retry: 0, dead: 0 };
  for (const brand of integrations) {
    const done = await drainOnce(outbound, { integration: brand as IntegrationName });
    for (const key of Object.keys(counts) as (keyof typeof counts)[]) counts[key] += done[key];
  }
  if (options.json) printJson({ queued, ...counts });
  else
    say(
      `${counts.delivered} delivered here, ${counts.retry} to be retried, ${counts.dead} dead; a running service delivers the rest.`,
    );
}
