import { InnboundError } from '../../errors.ts';
import { profileRoutes } from '../api/routes/profiles.ts';
import { calling } from './call.ts';
import type { BrandOptions, Command } from './command.ts';

interface SplitOptions extends BrandOptions {
  readonly fields?: string;
  readonly merged?: string;
}

export function define(profile: Command): void {
  const ofBrand = (usage: string, description: string): Command =>
    profile
      .subcommand(usage, description)
      .requiredOption('-i, --integration <name>', 'the integration that the profiles belong to');
  calling(
    ofBrand('pairs', 'list pairs of profiles that may be one person, those with the most bookings first'),
    profileRoutes,
    'guests.pairs',
    ({ integration }: BrandOptions) => ({ params: { integration }, query: { limit: '100' } }),
    { none: 'No pairs to decide.', columns: ['reason', 'profiles'] },
  );
  calling(
    ofBrand('not-same <id> <other>', 'remember that two profiles of a pair are two persons'),
    profileRoutes,
    'guests.not_same',
    (id: string, as: string, { integration }: BrandOptions) => ({ params: { integration, id }, body: { as } }),
  );
  calling(
    ofBrand('shared', 'list addresses and numbers under which different persons are known'),
    profileRoutes,
    'guests.shared_addresses',
    ({ integration }: BrandOptions) => ({ params: { integration } }),
    { none: 'No address or number has different persons.', columns: ['email', 'phone', 'persons', 'bookings'] },
  );
  calling(
    ofBrand('merge <id> <into>', 'merge a profile into another of the same integration').notes(`
The second profile stays, with its own values and those that it lacked. Destinations receive both profiles again; the first one
then only says where its data went (extra.merged_into).

Example:
  innbound profile merge gst_1f0a gst_77c2 --integration lisbon-grand`),
    profileRoutes,
    'guests.merge',
    (id: string, into: string, { integration }: BrandOptions) => ({ params: { integration, id }, body: { into } }),
  );
  calling(
    ofBrand('split <id>', 'move fields of a profile to a new one, or undo a merge')
      .option('--fields <list>', 'what belongs to the other person: guest_id, email, phone, separated by commas')
      .option('--merged <id>', 'a profile that was merged into this one')
      .notes(`
Example:
  innbound profile split gst_77c2 --integration lisbon-grand --fields phone
  innbound profile split gst_77c2 --integration lisbon-grand --merged gst_1f0a`),
    profileRoutes,
    'guests.split',
    (id: string, { integration, fields, merged }: SplitOptions) => {
      if ((fields === undefined) === (merged === undefined)) {
        throw new InnboundError('operate.invalid_input', 'Give either --fields or --merged.');
      }
      return { params: { integration, id }, body: { fields: fields?.split(','), merged } };
    },
  );
}
