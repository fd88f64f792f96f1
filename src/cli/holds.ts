import { type Command, Option } from 'commander';
import { holds, previewHold, refuseHold, releaseHold } from '../operations/holds.ts';
import {
  audited,
  type CommonOptions,
  commandLineUser,
  common,
  printJson,
  show,
  showList,
  withRuntime,
} from './command.ts';

interface ListOptions extends CommonOptions {
  readonly integration?: string;
  readonly state?: 'open' | 'ended' | 'released' | 'refused';
}

interface ReleaseOptions extends CommonOptions {
  readonly reservation?: readonly string[];
  readonly preview?: boolean;
}

export function define(group: Command): void {
  common(group.command('list'))
    .description('list what is held back as a mistake of a partner, newest first')
    .option('-i, --integration <name>', 'only this integration')
    .addOption(new Option('--state <state>', 'only this state').choices(['open', 'ended', 'released', 'refused']))
    .action((options: ListOptions) =>
      withRuntime(options, 'holds list', async (runtime) => {
        const { integration, state } = options;
        const integrations = integration === undefined ? undefined : [integration];
        showList(options, await holds(runtime, { state, integrations }), {
          none: 'Nothing is held.',
          head: ['hold', 'integration', 'feed', 'state', 'rows', 'waiting', 'since', 'what'],
          line: ({ id, integration: brand, feed, state: now, rows, waiting, at, message }) => [
            id,
            brand,
            feed,
            now,
            String(rows),
            String(waiting),
            at.slice(0, 16),
            message,
          ],
        });
      }),
    );

  common(group.command('release <id>'))
    .description('let the held values count, each as of its own time; the same change counts as normal for a while')
    .option('--reservation <ids...>', 'only these reservations; the hold stays open')
    .option('--preview', 'only show what would change')
    .action((id: string, options: ReleaseOptions) =>
      withRuntime(options, 'holds release', async (runtime) => {
        if (options.preview) {
          const preview = await previewHold(runtime, id);
          await audited(runtime, 'holds.preview', { integration: preview.hold.integration, target: { hold_id: id } });
          printJson(preview);
          return;
        }
        const result = await releaseHold(runtime, id, commandLineUser(), options.reservation);
        await audited(runtime, 'holds.release', { integration: result.hold.integration, target: { hold_id: id } });
        if (options.json) printJson({ ...result.hold, released: result.released });
        else show(`Released the held values of ${result.released} bookings.`);
      }),
    );

  common(group.command('refuse <id>'))
    .description('drop exactly the held values, also while the partner repeats them')
    .action((id: string, options: CommonOptions) =>
      withRuntime(options, 'holds refuse', async (runtime) => {
        const { hold, refused } = await refuseHold(runtime, id, commandLineUser());
        await audited(runtime, 'holds.refuse', { integration: hold.integration, target: { hold_id: id } });
        if (options.json) printJson({ ...hold, refused });
        else show(`Refused ${refused} rows; the stored values stay.`);
      }),
    );
}
