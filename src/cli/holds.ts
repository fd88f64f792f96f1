import { Option } from 'commander';
import { holds, previewHold, refuseHold, releaseHold } from '../operations/holds.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { answer, printJson, showList } from './io.ts';

interface ListOptions extends CommonOptions {
  readonly integration?: string;
  readonly state?: 'open' | 'ended' | 'released' | 'refused';
}

interface ReleaseOptions extends CommonOptions {
  readonly reservation?: readonly string[];
  readonly preview?: boolean;
}

export function define(group: Command): void {
  group
    .subcommand('list', 'list what is held back as a mistake of a partner, newest first')
    .option('-i, --integration <name>', 'only this integration')
    .addOption(new Option('--state <state>', 'only this state').choices(['open', 'ended', 'released', 'refused']))
    .inRuntime(async (runtime, options: ListOptions) => {
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
    });

  group
    .subcommand(
      'release <id>',
      'let the held values count, each as of its own time; the same change counts as normal for a while',
    )
    .option('--reservation <ids...>', 'only these reservations; the hold stays open')
    .option('--preview', 'only show what would change')
    .inRuntime(async (runtime, id: string, options: ReleaseOptions) => {
      if (options.preview) {
        const preview = await previewHold(runtime, id);
        await audited(runtime, 'holds.preview', { integration: preview.hold.integration, target: { hold_id: id } });
        printJson(preview);
        return;
      }
      const result = await releaseHold(runtime, id, commandLineUser(), options.reservation);
      await audited(runtime, 'holds.release', { integration: result.hold.integration, target: { hold_id: id } });
      answer(
        options,
        { ...result.hold, released: result.released },
        `Released the held values of ${result.released} bookings.`,
      );
    });

  group
    .subcommand('refuse <id>', 'drop exactly the held values, also while the partner repeats them')
    .inRuntime(async (runtime, id: string, options: CommonOptions) => {
      const { hold, refused } = await refuseHold(runtime, id, commandLineUser());
      await audited(runtime, 'holds.refuse', { integration: hold.integration, target: { hold_id: id } });
      answer(options, { ...hold, refused }, `Refused ${refused} rows; the stored values stay.`);
    });
}
