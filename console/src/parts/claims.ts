import type { Answer } from '../api/client.ts';
import type {
  DeliveryNow,
  EventRow,
  Found,
  Integration,
  Job,
  Overview,
  Previewed,
  Receipt,
  Run,
  SandboxReport,
} from '../api/types.ts';
import { thingsWrong } from './faults.ts';
import { clockOf, number, plural, type Tone, words } from './format.ts';
import type { Entry } from './story.ts';

/**
 * Every sentence of the console that says that something is well, with the facts it needs. A page says one only through these functions:
 * test/console/claims.test.ts has a case for each in which it must not appear, and refuses a tone of success anywhere else.
 */
export interface Claim {
  readonly tone: Tone;
  readonly text: string;
}

const claim = (tone: Tone, text: string): Claim => ({ tone, text });

/** The overall state in one sentence. */
export function standing({
  states,
  totals,
  broken,
  wrong,
}: Pick<Overview, 'states' | 'broken'> & {
  totals: Pick<Overview['totals'], 'integrations' | 'open_alerts' | 'bookings'>;
  /** As the badge and the title of what is wrong count it (faults.ts). */
  wrong: number;
}): Claim {
  const brands = totals.integrations;
  const unwell = states.attention + states.failing + states.auth_failed;
  const faults = broken.length;
  const claims = [
    wrong > 0 && thingsWrong(wrong),
    unwell > 0 && `${number(unwell)} of ${plural(brands, 'brand')} ${unwell === 1 ? 'needs' : 'need'} attention`,
    faults > 0 && `${plural(faults, 'problem')} with the service`,
    wrong + unwell + faults === 0 && totals.open_alerts > 0 && `${plural(totals.open_alerts, 'alert')} open`,
  ].filter((one) => one !== false);
  if (claims.length > 0) return claim('bad', `${claims.join(', ')}.`);
  if (brands === 0) return claim('calm', 'No brand is connected yet.');
  if (states.healthy === brands)
    return claim('good', `All well: ${plural(brands, 'brand')} with ${plural(totals.bookings, 'booking')}.`);
  const rest = [
    states.healthy > 0 && `${number(states.healthy)} healthy`,
    states.new > 0 && `${number(states.new)} without data yet`,
    states.paused > 0 && `${number(states.paused)} paused`,
  ].filter((one) => one !== false);
  return claim('calm', `No problem found: ${rest.join(', ')}.`);
}

/** A brand is well by what was checked and found, not because nothing was said against it. */
export const checksOf = (brand: Pick<Integration, 'state' | 'reasons' | 'rests_on' | 'last_delivered_at'>): Claim => {
  const { state, reasons, rests_on, last_delivered_at: at } = brand;
  const rests = rests_on && `${rests_on}, ${at ? `last delivery ${clockOf(at)}` : 'no delivery lately'}.`;
  return state === 'healthy' && reasons.length === 0 && rests && at
    ? claim('good', rests)
    : claim('warn', [...reasons, rests].filter(Boolean).join(' ') || words(state));
};

export function deliveredOf(one: Pick<Found, 'open_dead_letters' | 'held' | 'undelivered' | 'receivers'>): Claim {
  if (one.open_dead_letters > 0) return claim('bad', plural(one.open_dead_letters, 'dead letter'));
  if (one.held > 0) return claim('warn', 'A change is held');
  if (one.undelivered > 0) return claim('warn', `${plural(one.undelivered, 'destination')} waiting`);
  return one.receivers === 0 ? claim('calm', 'Nowhere') : claim('good', 'Everywhere');
}

/** Polls are compared with events up to ten minutes ago: later events may still come. */
const comparedAfterMs = 600_000;

export function pushGaps(
  { items, first_event_at, refused }: Answer<'integrations.push_gaps'>,
  nowMs = Date.now(),
): Claim {
  const missed = items.reduce((all, { created, updated, cancelled }) => all + created + updated + cancelled, 0);
  if (missed > 0) return claim('warn', `${plural(missed, 'change')} that no event reported`);
  if (refused > 0)
    return claim(
      'warn',
      `${plural(refused, 'event')} refused in the last 14 days: what they said is known only if a poll found it.`,
    );
  if (first_event_at === null) return claim('calm', 'No event has arrived, so nothing can be compared.');
  if (nowMs - Date.parse(first_event_at) < comparedAfterMs)
    return claim('calm', 'The first event arrived less than ten minutes ago: nothing is compared yet.');
  return claim('good', 'Up to ten minutes ago, no poll found a change that no event had reported.');
}

export function stillListed(
  { bookings, findings }: Pick<Integration, 'bookings' | 'findings'>,
  unlisted: number,
  completeRuns: number,
): Claim {
  if (unlisted > 0) return claim('warn', `${plural(unlisted, 'reservation')} no longer listed`);
  if (completeRuns === 0) return claim('calm', 'No run has been complete yet, so nothing was compared');
  if (!bookings) return claim('calm', 'No reservation is stored, so nothing was compared');
  if (findings.some(({ kind }) => kind === 'bookings_unlisted'))
    return claim('calm', 'Some disappeared lately and are listed again');
  return claim('good', 'Every stored reservation is still listed');
}

/** Without these, a record is of no use to a destination. */
const needed = { guests: 'a guest', 'guests.last_name': 'a last name', 'guests.email': 'an e-mail address' };

export function recordsValid({ records, filled }: Pick<Previewed, 'records' | 'filled'>): Claim {
  const good = records.filter(({ kind }) => kind === 'record').length;
  const counted = `${good} of ${plural(records.length, 'record')}`;
  const lacking = Object.entries(needed)
    .filter(([field]) => (filled.find((rate) => rate.field === field)?.filled ?? 0) === 0)
    .map(([, name]) => name);
  if (good > 0 && lacking.length > 0)
    return claim('warn', `${counted} can be stored, none with ${lacking.join(' or ')}`);
  return claim(good > 0 && good === records.length ? 'good' : 'warn', `${counted} valid`);
}

export function dryRun({ day, counts, error, warning }: Answer<'integrations.dry_run'>): Claim {
  const { fetched, dead_lettered: dead } = counts;
  const tone = error || warning || dead > 0 ? 'warn' : fetched === 0 ? 'calm' : 'good';
  return claim(tone, `${day}: ${plural(fetched, 'reservation')}`);
}

export function firstEvent({ state, outcome }: Pick<EventRow, 'state' | 'outcome'>): Claim {
  if (state === 'dead' || outcome === 'dead') return claim('bad', 'The first event became a dead letter');
  if (state !== 'done') return claim('info', 'The first event has arrived and is being processed');
  return claim('good', 'The first event has arrived');
}

export const noDeadLetters = (filters: number): Claim =>
  filters === 0
    ? claim('good', 'No open dead letters. Nothing has failed for good.')
    : claim('calm', 'No open dead letters match. Others may be open.');

export function hasVersion(
  {
    due_at,
    held_by,
    delivered_version,
    removed,
  }: Pick<DeliveryNow, 'due_at' | 'held_by' | 'delivered_version' | 'removed'>,
  version: number,
): Claim | undefined {
  if (held_by !== null || due_at !== null || delivered_version < version) return undefined;
  return removed ? claim('calm', 'Has left') : claim('good', `Has version ${delivered_version}`);
}

export function consentGiven({ consent, state }: { consent: string | null; state: string }): Claim | undefined {
  if (consent !== 'given') return undefined;
  return state === 'auth_failed'
    ? claim('bad', 'Consent was given, but the partner refuses the credentials')
    : claim('good', 'Consent was given');
}

export const mappingEffect = ({ records, changed, refused }: Answer<'map.effect'>): Claim =>
  records === 0
    ? claim('calm', 'No payload is stored to try it on')
    : claim(
        refused > 0 ? 'bad' : changed > 0 ? 'warn' : 'good',
        `${plural(changed, 'reservation')} of ${records} would change`,
      );

export function jobDone({ state, counts }: Pick<Job, 'state' | 'counts'>): Claim | undefined {
  if (state !== 'done') return undefined;
  const failing = (counts.still_failing ?? 0) + (counts.refused ?? 0);
  return failing > 0 ? claim('warn', 'Done, some still fail') : claim('good', 'Done');
}

/** Erased here is not erased everywhere while a destination has not confirmed it, or must be cleaned by hand. */
export function erased({ state, completed_at, notified }: Pick<Receipt, 'state' | 'completed_at' | 'notified'>): Claim {
  if (completed_at === null) return claim('warn', 'Not completed');
  if (notified.some(({ not_notified }) => not_notified > 0))
    return claim('warn', 'Erased here; a destination is left to you');
  return state === 'notifying'
    ? claim('info', 'Erased here; destinations are being notified')
    : claim('good', 'Erased');
}

export function sandboxAnswer({
  would_answer,
  outcome,
  events,
}: Pick<SandboxReport, 'would_answer' | 'outcome' | 'events'>): Claim {
  const dead = [outcome, ...(events ?? []).map((one) => one.outcome)].some(({ kind }) => kind === 'dead_letter');
  const tone = would_answer.status >= 300 ? 'bad' : dead ? 'warn' : 'good';
  return claim(tone, `The live endpoint would answer ${would_answer.status}`);
}

export const signatureOf = (right: boolean): Claim =>
  right ? claim('good', 'The signature is valid') : claim('bad', 'The signature is invalid');

/** What is `held` may be a mistake of the partner: replaying it overrules the hold. */
export function replayWould(preview: Answer<'dead_letters.preview'>, held = false): Claim | undefined {
  if (preview.kind === 'still_failing') return claim('bad', 'It would fail again');
  if (preview.kind !== 'ready' || preview.record.id === '') return undefined;
  if (held) return claim('warn', 'It would be applied in spite of the hold');
  return claim('good', preview.diff.length === 0 ? 'It would be sent again unchanged' : 'It would succeed');
}

/** A night in a sentence or two. One in which nothing was counted is not a quiet one. */
export function nightOf(night: { entries: readonly Entry[]; flow: Answer<'overview.flow'> }): Claim {
  const { entries, flow } = night;
  const incidents = entries.filter(({ kind }) => kind === 'incident');
  const open = incidents.filter(({ until }) => until === null).length;
  const holds = entries.filter(({ kind }) => kind === 'hold').length;
  const wrong = [
    incidents.length > 0 &&
      `${plural(incidents.length, 'incident')}${open > 0 ? `, ${number(open)} still open` : ', all over'}`,
    holds > 0 && plural(holds, 'hold'),
    flow.failed_runs > 0 &&
      `${number(flow.failed_runs)} of ${plural(flow.failed_runs + flow.complete_runs, 'run')} failed or incomplete`,
    flow.refused_events > 0 && `${plural(flow.refused_events, 'event')} refused`,
    flow.dead > 0 && `${plural(flow.dead, 'delivery', 'deliveries')} failed for good`,
  ].filter((one) => typeof one === 'string');
  const flowed = `${plural(flow.events, 'event')} and ${plural(flow.complete_runs, 'complete run')} brought ${plural(flow.changes, 'change')}; ${plural(flow.delivered, 'delivery', 'deliveries')} arrived.`;
  if (wrong.length > 0) return claim('warn', `${wrong.join('; ')}. ${flowed}`);
  return flow.events + flow.complete_runs === 0
    ? claim('calm', 'Nothing was received or pulled, so nothing is known of this night.')
    : claim('good', `No incident, no failed run, nothing refused. ${flowed}`);
}

/** A run that took everything in. One that was read to its end, but with rows that do not count, is no success. */
export function runDone({
  status,
  held,
  dead_lettered: dead,
}: Pick<Run, 'status' | 'held' | 'dead_lettered'>): Claim | undefined {
  if (status !== 'complete') return undefined;
  const rest = [held > 0 && `${number(held)} held`, dead > 0 && plural(dead, 'dead letter')].filter(Boolean);
  return rest.length > 0 ? claim('warn', `Complete, ${rest.join(', ')}`) : claim('good', 'Complete');
}

export const incidentOver = (endedAt: string | null, lasted: string): Claim | undefined =>
  endedAt === null ? undefined : claim('good', `Over after ${lasted}`);

/** `unwell` counts brands whose checks found something: an alert follows within a minute. */
export const noneOpen = (things: string, unwell: number): Claim =>
  unwell === 0
    ? claim('good', `No open ${things}`)
    : claim('warn', `None yet, but ${plural(unwell, 'brand')} ${unwell === 1 ? 'needs' : 'need'} attention`);

const noProfiles = claim('calm', 'No profiles are kept: no destination of this brand receives guests');

export const nothingToDecide = (hasProfiles: boolean): Claim =>
  hasProfiles ? claim('good', 'Nothing to decide') : noProfiles;

export const nothingShared = (hasProfiles: boolean): Claim =>
  hasProfiles ? claim('good', 'No address or number has different persons') : noProfiles;

export const fieldsMapped = (unmapped: number): Claim =>
  unmapped === 0 ? claim('good', 'every field is mapped') : claim('warn', `${plural(unmapped, 'field')} not mapped`);
