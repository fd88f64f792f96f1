import type { Command } from 'commander';
import { type Reprocessed, reprocess } from '../operations/reprocess.ts';
import { audited, type CommonOptions, commandLineUser, common, printJson, say, show, withRuntime } from './command.ts';
import { io } from './io.ts';

interface Options extends CommonOptions {
  readonly from?: string;
  readonly to?: string;
  readonly apply?: boolean;
  readonly refetch?: boolean;
}

const mostListed = 20;

export function define(command: Command): void {
  common(command)
    .option('--from <day>', 'only payloads received on or after this day (YYYY-MM-DD, UTC)')
    .option('--to <day>', 'only payloads received on or before this day')
    .option('--apply', 'apply the changes; without it, only show what would change')
    .option(
      '--refetch',
      'with --apply, request the reservations from the partner whose payload cannot be processed again',
    )
    .addHelpText(
      'after',
      `
Shows how many reservations would change, with samples of the differences, and changes nothing without --apply. Payloads are kept
for the retention of raw payloads (30 days by default). Newer messages of the partner still take precedence.

Example:
  innbound reprocess lisbon-grand
  innbound reprocess lisbon-grand --apply --refetch`,
    )
    .action((integration: string, options: Options) =>
      withRuntime(options, 'reprocess', async (runtime) => {
        const { from, to, apply = false, refetch = false } = options;
        const progress = ({ records, changed }: Reprocessed) =>
          io().stderr.isTTY && io().stderr.write(`\r${records} read, ${changed} changed`);
        const refetchBy = refetch ? commandLineUser() : undefined;
        const request = { integration, from, to, preview: !apply, refetchBy };
        const done = await reprocess(runtime, request, (step) => {
          if (!options.json) progress(step);
        });
        // A preview changes nothing, but its samples show guest data.
        if (apply) await audited(runtime, 'integrations.reprocess', { integration, target: { changed: done.changed } });
        else await audited(runtime, 'jobs.preview', { integration, target: { operation: 'reprocess' } });
        if (options.json) return printJson(done);
        if (io().stderr.isTTY) say('');
        const { records, changed, unchanged, refused, without_payload: without, refetched, samples, refusals } = done;
        show(
          `${records} reservations with a stored payload: ${changed} ${apply ? 'changed' : 'would change'}, ${unchanged} unchanged, ${refused} refused. ${without} without a stored payload.`,
        );
        for (const { id, diff } of samples) show(`  ${id}: ${JSON.stringify(diff)}`);
        if (refetched > 0) show(`${refetched} requested from the partner again.`);
        if (refusals.length > 0) show('Not processed:');
        for (const { id, reason } of refusals.slice(0, mostListed)) show(`  ${id}: ${reason}`);
        if (refusals.length > mostListed) show('  … (--json lists the first 1,000)');
        if (refusals.length > 0 && !refetch) say('--apply --refetch requests them from the partner.');
        if (!apply && changed > 0) say('Nothing was changed. Add --apply to apply it.');
      }),
    );
}
