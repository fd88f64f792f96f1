import { Option } from 'commander';
import { holdRoutes } from '../api/routes/holds.ts';
import { call, calling } from './call.ts';
import type { Command, CommonOptions } from './command.ts';
import { print } from './print.ts';

interface ListOptions {
  readonly integration?: string;
  readonly state?: string;
}

interface ReleaseOptions extends CommonOptions {
  readonly reservation?: string[];
  readonly preview?: boolean;
}

export function define(group: Command): void {
  calling(
    group
      .subcommand('list', 'list what is held back as a mistake of a partner, newest first')
      .option('-i, --integration <name>', 'only this integration')
      .addOption(new Option('--state <state>', 'only this state').choices(['open', 'ended', 'released', 'refused'])),
    holdRoutes,
    'holds.list',
    ({ integration, state }: ListOptions) => ({ query: { integration, state } }),
    {
      none: 'Nothing is held.',
      columns: ['id', 'integration', 'feed', 'state', 'rows', 'waiting', 'at', 'message'],
    },
  );
  group
    .subcommand(
      'release <id>',
      'release the held values, each as of its own time; the same change counts as normal for a while',
    )
    .option('--reservation <ids...>', 'only these reservations; the hold stays open')
    .option('--preview', 'only show what would change')
    .inRuntime(async (runtime, id: string, options: ReleaseOptions) => {
      const { preview, reservation: reservations } = options;
      const params = { hold_id: id };
      if (preview) return print(options, await call(runtime, holdRoutes, 'holds.preview', { params }));
      print(options, flat(await call(runtime, holdRoutes, 'holds.release', { params, body: { reservations } })));
    });
  group
    .subcommand('refuse <id>', 'drop exactly the held values, also while the partner repeats them')
    .inRuntime(async (runtime, id: string, options: CommonOptions) =>
      print(options, flat(await call(runtime, holdRoutes, 'holds.refuse', { params: { hold_id: id } }))),
    );
}

/** The hold itself, with what was done to it. */
const flat = ({ hold, ...done }: { readonly hold?: object }): object => ({ ...hold, ...done });
