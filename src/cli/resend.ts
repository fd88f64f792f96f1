import type { Command } from 'commander';
import { drainOnce } from '../deliver/deliveries.ts';
import { profilesDestination } from '../deliver/profiles.ts';
import { InnboundError } from '../errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { resend } from '../store/outbox/resend.ts';
import { deliverPorts } from '../wiring/deliver.ts';
import { type CommonOptions, common, printJson, say, withRuntime } from './command.ts';

interface Options extends CommonOptions {
  readonly integration?: string;
}

export function registerResend(program: Command): void {
  common(program.command('resend <destination>'))
    .description('resend the newest version of every record to a destination that is new or lost its data')
    .option('-i, --integration <name>', 'only of this integration')
    .addHelpText(
      'after',
      `
Each record is sent with its original idempotency key and version, so a destination that already has it does not change.
Only the files destination writes it a second time.

Example:
  innbound resend warehouse --integration lisbon-grand`,
    )
    .action((name: string, options: Options) =>
      withRuntime(options, 'resend', (runtime) => run(runtime, name, options)),
    );
}

async function run(runtime: Runtime, name: string, options: Options): Promise<void> {
  const { destinations, integrations } = runtime.active();
  const destination = destinations.get(name);
  if (destination === undefined) {
    const known = [...destinations.keys()].join(', ');
    throw new InnboundError(
      'documents.unknown_name',
      `There is no destination ${name}; known destinations: ${known || 'none'}.`,
    );
  }
  const brands = [...integrations.values()].filter(
    ({ name: brand, body }) =>
      body.deliver.includes(name) && (options.integration === undefined || brand === options.integration),
  );
  if (brands.length === 0) {
    const which =
      options.integration === undefined ? 'No integration delivers' : `${options.integration} does not deliver`;
    throw new InnboundError('documents.unknown_name', `${which} to ${name}.`);
  }
  let queued = 0;
  for (const { name: brand } of brands) {
    queued += await resend(runtime.pool, brand, name, destination.body.receives);
    // Guests of reservations from before a destination received guests have no profile yet.
    if (destination.body.receives.includes('guest')) {
      await resend(runtime.pool, brand, profilesDestination, ['reservation']);
    }
  }
  runtime.wake.signal('outbox');
  if (!options.json) say(`${queued} ${queued === 1 ? 'record' : 'records'} queued for ${name}.`);
  const outbound = await deliverPorts(runtime);
  const counts = { delivered: 0, skipped: 0, retry: 0, dead: 0 };
  for (const { name: integration } of brands) {
    const done = await drainOnce(outbound, { integration });
    for (const key of Object.keys(counts) as (keyof typeof counts)[]) counts[key] += done[key];
  }
  if (options.json) printJson({ queued, ...counts });
  else
    say(
      `${counts.delivered} delivered here, ${counts.retry} to be retried, ${counts.dead} dead; a running service delivers the rest.`,
    );
}
