import type { Command } from 'commander';
import { type Reprocessed, reprocess } from '../operations/reprocess.ts';
import { audited, type CommonOptions, common, printJson, say, show, withRuntime } from './command.ts';
import { io } from './io.ts';

interface Options extends CommonOptions {
  readonly from?: string;
  readonly to?: string;
  readonly apply?: boolean;
}

export function define(command: Command): void {
  common(command)
    .option('--from <day>', 'only payloads received on or after this day (YYYY-MM-DD, UTC)')
    .option('--to <day>', 'only payloads received on or before this day')
    .option('--apply', 'apply the changes; without it, only show what would change')
    .addHelpText(
      'after',
      `
Shows how many reservations would change, with samples of the differences, and changes nothing without --apply. Payloads are kept
for the retention of raw payloads (30 days by default). Newer messages of the partner still take precedence.

Example:
  innbound reprocess lisbon-grand
  innbound reprocess lisbon-grand --apply`,
    )
    .action((integration: string, options: Options) =>
      withRuntime(options, 'reprocess', async (runtime) => {
        const { from, to, apply = false } = options;
        const progress = ({ records, changed }: Reprocessed) =>
          io().stderr.isTTY && io().stderr.write(`\r${records} read, ${changed} changed`);
        const done = await reprocess(runtime, { integration, from, to, preview: !apply }, (step) => {
          if (!options.json) progress(step);
        });
        // A preview changes nothing, but its samples show guest data.
        if (apply) await audited(runtime, 'integrations.reprocess', { integration, target: { changed: done.changed } });
        else await audited(runtime, 'jobs.preview', { integration, target: { operation: 'reprocess' } });
        if (options.json) return printJson(done);
        if (io().stderr.isTTY) say('');
        const { records, changed, unchanged, refused, samples } = done;
        show(
          `${records} reservations with a stored payload: ${changed} ${apply ? 'changed' : 'would change'}, ${unchanged} unchanged, ${refused} refused by the documents in force.`,
        );
        for (const { id, diff } of samples) show(`  ${id}: ${JSON.stringify(diff)}`);
        if (!apply && changed > 0) say('Nothing was changed. Add --apply to apply it.');
      }),
    );
}
