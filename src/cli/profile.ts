import { InnboundError } from '../errors.ts';
import {
  editProfiles,
  mergeCandidates,
  notSamePerson,
  type PersonView,
  type ProfileDecision,
  sharedAddresses,
} from '../operations/profiles.ts';
import type { GuestKeyKind } from '../persons/identifiers.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { audited, type BrandOptions, type Command } from './command.ts';
import { answer, printJson, say, show, showList } from './io.ts';

interface Options extends BrandOptions {
  readonly fields?: string;
  readonly merged?: string;
}

const kinds: readonly string[] = ['guest_id', 'email', 'phone'] satisfies GuestKeyKind[];

export function define(profile: Command): void {
  profile
    .subcommand('pairs', 'list pairs of profiles that may be one person, those with the most bookings first')
    .requiredOption('-i, --integration <name>', 'the integration that they belong to')
    .inRuntime(async (runtime, options: Options) => {
      const { integration } = options;
      const candidates = await mergeCandidates(runtime, integration, 100);
      await audited(runtime, 'guests.pairs', { integration, target: {} });
      if (options.json) return candidates.forEach(printJson);
      if (candidates.length === 0) say('No pairs to decide.');
      for (const { reason, profiles } of candidates) {
        show(reason);
        for (const { id, bookings, person } of profiles) show(`  ${id}  ${bookings} bookings  ${personText(person)}`);
      }
    });
  profile
    .subcommand('not-same <id> <other>', 'remember that two profiles of a pair are two persons')
    .requiredOption('-i, --integration <name>', 'the integration that both belong to')
    .inRuntime(async (runtime, id: string, other: string, { integration, json }: Options) => {
      if (!(await notSamePerson(runtime, integration, id, other))) {
        const why = `${id} and ${other} are not an undecided pair of ${integration}.`;
        throw new InnboundError('operate.invalid_input', why);
      }
      await audited(runtime, 'guests.not_same', { integration, target: { id, as: other } });
      if (json) printJson({ remembered: true });
      else say('Remembered: two persons.');
    });
  profile
    .subcommand('shared', 'list addresses and numbers under which different persons are known')
    .requiredOption('-i, --integration <name>', 'the integration that they belong to')
    .inRuntime(async (runtime, options: Options) => {
      const { integration } = options;
      const shared = await sharedAddresses(runtime, integration);
      await audited(runtime, 'guests.shared_addresses', { integration, target: {} });
      showList(options, shared, {
        none: 'No address or number has different persons.',
        head: ['address or number', 'persons', 'bookings'],
        line: ({ email, phone, persons, bookings }) => [email ?? phone ?? '', String(persons), String(bookings)],
      });
    });
  profile
    .subcommand('merge <id> <into>', 'merge a profile into another of the same integration')
    .requiredOption('-i, --integration <name>', 'the integration that both belong to')
    .notes(`
The second profile stays, with its own values and those that it lacked. Destinations receive both profiles again; the first one
then only says where its data went (extra.merged_into).

Example:
  innbound profile merge gst_1f0a gst_77c2 --integration lisbon-grand`)
    .inRuntime((runtime, id: string, into: string, options: Options) =>
      edit(runtime, options, { kind: 'merge', id, into }),
    );
  profile
    .subcommand('split <id>', 'move fields of a profile to a new one, or undo a merge')
    .requiredOption('-i, --integration <name>', 'the integration that it belongs to')
    .option('--fields <list>', 'what belongs to the other person: guest_id, email, phone, separated by commas')
    .option('--merged <id>', 'a profile that was merged into this one')
    .notes(`
Example:
  innbound profile split gst_77c2 --integration lisbon-grand --fields phone
  innbound profile split gst_77c2 --integration lisbon-grand --merged gst_1f0a`)
    .inRuntime((runtime, id: string, options: Options) => edit(runtime, options, splitOf(id, options)));
}

function splitOf(id: string, { fields, merged }: Options): ProfileDecision {
  if ((fields === undefined) === (merged === undefined)) {
    throw new InnboundError('operate.invalid_input', 'Give either --fields or --merged.');
  }
  if (merged !== undefined) return { kind: 'separate', id, merged };
  const named = (fields ?? '').split(',').map((field) => field.trim());
  const unknown = named.filter((field) => !kinds.includes(field));
  if (unknown.length > 0) {
    throw new InnboundError('operate.invalid_input', `--fields takes ${kinds.join(', ')}, not ${unknown.join(', ')}.`);
  }
  return { kind: 'split', id, fields: named as GuestKeyKind[] };
}

const personText = ({ first_name, last_name, email, phone, date_of_birth, marketing_consent: consent }: PersonView) =>
  [
    first_name,
    last_name,
    email,
    phone,
    date_of_birth,
    consent === undefined ? undefined : `consent ${consent ? 'yes' : 'no'}`,
  ]
    .filter((one) => one !== undefined)
    .join(' ');

async function edit(runtime: Runtime, { integration, json }: Options, decision: ProfileDecision): Promise<void> {
  const done = await editProfiles(runtime, integration, decision);
  if (done.kind === 'missing') {
    throw new InnboundError('operate.invalid_input', `There is no profile ${done.id} in ${integration}.`);
  }
  if (done.kind === 'refused') throw new InnboundError('operate.profile_not_editable', done.reason);
  await audited(runtime, decision.kind === 'merge' ? 'guests.merge' : 'guests.split', {
    integration,
    target: { ...decision } as never,
  });
  const { profiles } = done;
  answer({ json }, { profiles }, profiles.map(({ id, version }) => `${id}: version ${version}`).join('\n'));
}
