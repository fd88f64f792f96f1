import type { Command } from 'commander';
import { InnboundError } from '../errors.ts';
import { editProfiles, type ProfileDecision } from '../operations/edit-profiles.ts';
import { mergeCandidates, notSamePerson } from '../operations/merge-candidates.ts';
import type { PersonView } from '../operations/person-view.ts';
import { sharedAddresses } from '../operations/shared-addresses.ts';
import type { GuestKeyKind } from '../persons/identifiers.ts';
import { audited, type CommonOptions, common, printJson, say, show, showList, withRuntime } from './command.ts';

interface Options extends CommonOptions {
  readonly integration: string;
  readonly fields?: string;
  readonly merged?: string;
}

const kinds: readonly string[] = ['guest_id', 'email', 'phone'] satisfies GuestKeyKind[];

export function define(profile: Command): void {
  common(profile.command('pairs'))
    .description('list pairs of profiles that may be one person, those with the most bookings first')
    .requiredOption('-i, --integration <name>', 'the integration that they belong to')
    .action((options: Options) => pairs(options));
  common(profile.command('not-same <id> <other>'))
    .description('remember that two profiles of a pair are two persons')
    .requiredOption('-i, --integration <name>', 'the integration that both belong to')
    .action((id: string, other: string, options: Options) => notSame(options, id, other));
  common(profile.command('shared'))
    .description('list addresses and numbers under which different persons are known')
    .requiredOption('-i, --integration <name>', 'the integration that they belong to')
    .action((options: Options) => shared(options));
  common(profile.command('merge <id> <into>'))
    .description('merge a profile into another of the same integration')
    .requiredOption('-i, --integration <name>', 'the integration that both belong to')
    .addHelpText(
      'after',
      `
The second profile stays, with its own values and those that it lacked. Destinations receive both profiles again; the first one
then only says where its data went (extra.merged_into).

Example:
  innbound profile merge gst_1f0a gst_77c2 --integration lisbon-grand`,
    )
    .action((id: string, into: string, options: Options) => edit(options, { kind: 'merge', id, into }));
  common(profile.command('split <id>'))
    .description('move fields of a profile to a new one, or undo a merge')
    .requiredOption('-i, --integration <name>', 'the integration that it belongs to')
    .option('--fields <list>', 'what belongs to the other person: guest_id, email, phone, separated by commas')
    .option('--merged <id>', 'a profile that was merged into this one')
    .addHelpText(
      'after',
      `
Example:
  innbound profile split gst_77c2 --integration lisbon-grand --fields phone
  innbound profile split gst_77c2 --integration lisbon-grand --merged gst_1f0a`,
    )
    .action((id: string, options: Options) => edit(options, splitOf(id, options)));
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

function pairs(options: Options): Promise<void> {
  const { integration } = options;
  return withRuntime(options, 'profile pairs', async (runtime) => {
    const found = await mergeCandidates(runtime, integration, 100);
    await audited(runtime, 'guests.pairs', { integration, target: {} });
    if (options.json) for (const one of found) printJson(one);
    else if (found.length === 0) say('No pairs to decide.');
    for (const { reason, profiles } of options.json ? [] : found) {
      show(reason);
      for (const { id, bookings, person } of profiles) show(`  ${id}  ${bookings} bookings  ${personText(person)}`);
    }
  });
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

function notSame(options: Options, id: string, other: string): Promise<void> {
  const { integration } = options;
  return withRuntime(options, 'profile not-same', async (runtime) => {
    if (!(await notSamePerson(runtime, integration, id, other))) {
      const why = `${id} and ${other} are not an undecided pair of ${integration}.`;
      throw new InnboundError('operate.invalid_input', why);
    }
    await audited(runtime, 'guests.not_same', { integration, target: { id, as: other } });
    if (options.json) printJson({ remembered: true });
    else say('Remembered: two persons.');
  });
}

function shared(options: Options): Promise<void> {
  const { integration } = options;
  return withRuntime(options, 'profile shared', async (runtime) => {
    const found = await sharedAddresses(runtime, integration);
    await audited(runtime, 'guests.shared_addresses', { integration, target: {} });
    showList(options, found, {
      none: 'No address or number has different persons.',
      head: ['address or number', 'persons', 'bookings'],
      line: ({ email, phone, persons, bookings }) => [email ?? phone ?? '', String(persons), String(bookings)],
    });
  });
}

function edit(options: Options, decision: ProfileDecision): Promise<void> {
  const { integration } = options;
  return withRuntime(options, 'profile', async (runtime) => {
    const done = await editProfiles(runtime, integration, decision);
    if (done.kind === 'missing') {
      throw new InnboundError('operate.invalid_input', `There is no profile ${done.id} in ${integration}.`);
    }
    if (done.kind === 'refused') throw new InnboundError('operate.profile_not_editable', done.reason);
    await audited(runtime, decision.kind === 'merge' ? 'guests.merge' : 'guests.split', {
      integration,
      target: { ...decision } as never,
    });
    if (options.json) printJson({ profiles: done.profiles });
    else for (const { id, version } of done.profiles) show(`${id}: version ${version}`);
  });
}
