import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type Reprocessed, reprocess } from '../operations/reprocess.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { io, say } from './io.ts';
import { print } from './print.ts';
import { warnOfEdits } from './sync.ts';

interface Options extends CommonOptions {
  readonly connector?: string;
  readonly from?: string;
  readonly to?: string;
  readonly apply?: boolean;
  readonly refetch?: boolean;
}

export function define(command: Command): void {
  command
    .common()
    .option('--connector <name>', 'all brands of this connector, instead of one integration')
    .option('--from <day>', 'only payloads received on or after this day (YYYY-MM-DD, UTC)')
    .option('--to <day>', 'only payloads received on or before this day')
    .option('--apply', 'apply the changes; without it, only show what would change')
    .option('--refetch', 'with --apply, request from the partner what cannot be processed again')
    .notes(`
Shows how many reservations would change, with samples of the differences, and changes nothing without --apply. Payloads are kept
for the retention of raw payloads (30 days by default). Newer messages of the partner still take precedence.

Example:
  innbound reprocess lisbon-grand
  innbound reprocess lisbon-grand --apply --refetch
  innbound reprocess --connector acme-pms --apply`)
    .inRuntime(async (runtime, integration: string | undefined, options: Options) => {
      const names = namesOf(runtime, integration, options);
      await warnOfEdits(runtime, names[0] ?? '');
      for (const name of names) await reprocessBrand(runtime, name, options);
    });
}

function namesOf(runtime: Runtime, integration: string | undefined, { connector }: Options): string[] {
  if ((integration === undefined) === (connector === undefined))
    throw new InnboundError('operate.invalid_input', 'Name one integration, or a connector with --connector.');
  if (integration !== undefined) return [integration];
  const brands = [...runtime.active().integrations.values()].filter(({ body }) => body.connector === connector);
  if (brands.length === 0) throw new InnboundError('documents.unknown_name', `No integration uses ${connector}.`);
  return brands.map((brand) => brand.integration);
}

async function reprocessBrand(runtime: Runtime, integration: string, options: Options): Promise<void> {
  const { from, to, apply = false, refetch } = options;
  const isTerminal = io().stderr.isTTY === true && !options.json;
  const request = { integration, from, to, preview: !apply, refetchBy: refetch ? commandLineUser() : undefined };
  const onStep = ({ records, changed }: Reprocessed) => {
    if (isTerminal) io().stderr.write(`\r${integration}: ${records} read, ${changed} changed`);
  };
  const { read: _, ...done } = await reprocess(runtime, request, { onStep });
  // A preview changes nothing, but its samples show guest data.
  if (apply) await audited(runtime, 'integrations.reprocess', { integration, target: { changed: done.changed } });
  else await audited(runtime, 'jobs.preview', { integration, target: { operation: 'reprocess' } });
  if (isTerminal) say('');
  print(options, { integration, ...done });
  if (options.json) return;
  if (done.refusals.length > 0 && !refetch) say('--apply --refetch requests what was not processed from the partner.');
  if (!apply && done.changed > 0) say('Nothing was changed. Add --apply to apply it.');
}
