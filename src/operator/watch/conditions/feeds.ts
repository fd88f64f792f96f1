import { type ErrorCode, errors } from '../../../errors.ts';
import { syncWords } from '../../../terms.ts';
import { namedBrands } from '../alerts.ts';
import type { Facts, Refusals, StreamFacts } from '../facts.ts';
import { behindMs, clause, counted, hours, type Judged, lateness, leastLateMs } from './judged.ts';

export const fewestUnlisted = 10;

export function* ofPulls(facts: Facts): Generator<Judged> {
  for (const { integration, by } of facts.pauses) {
    const about = { kind: 'paused', integration, state: 'paused', quiet: true } as const;
    if (by === null) yield { ...about, message: 'Pulls are paused in the integration document.' };
    else yield { ...about, message: `Pulls were paused by ${by}.`, action: 'resume' };
  }
  for (const { integration, message: reason } of facts.authFailures) {
    const why = reason === null ? '' : `: ${clause(reason)}`;
    const message = `The partner refuses the credentials; pulling is paused${why}.`;
    yield { kind: 'auth_failed', state: 'auth_failed', integration, message, action: 'test_and_resume' };
  }
  for (const { api, integrations, last_failure } of facts.partnerCircuits) {
    const [only = ''] = integrations.length === 1 ? integrations : [];
    const message = `${api} does not work (${clause(last_failure)}). ${counted(integrations.length, 'brand')} cannot pull; requests resume when it answers again.`;
    yield {
      kind: 'breaker_open',
      state: 'failing',
      integration: only,
      subject: api,
      message,
      detail: { brands: integrations.length, integrations: integrations.slice(0, namedBrands) },
      action: 'try_now',
      ...(integrations.length > 1 && { brands: integrations }),
    };
  }
  yield* ofRuns(facts);
  for (const { integration, count, is_empty } of facts.unlisted) {
    if (count < fewestUnlisted) continue;
    const message = is_empty
      ? `The partner's list is empty: its last runs found no booking. ${count} that it listed before stay as they are.`
      : `${count} reservations disappeared from the partner's lists in a day, without a cancellation.`;
    yield { kind: 'bookings_unlisted', state: 'attention', integration, message, detail: { count } };
  }
}

const waits: ReadonlyMap<string, string> = new Map([
  ['breaker', 'waits until the partner’s API works again'],
  ['backoff', 'is retrying a failed request'],
  ['retry_after', 'waits because the partner asked us to (429)'],
]);

function* ofRuns({ runs, waitingRuns, askedToWait }: Facts): Generator<Judged> {
  for (const { integration, sync, state, run_id, error_code } of runs) {
    const detail = { run_id, ...(error_code !== null && { code: error_code }) };
    const why = error_code === null ? '.' : `: ${errors[error_code as ErrorCode]?.what ?? error_code}`;
    const about = { integration, subject: sync, detail };
    const message = `The last ${syncWords(sync)} run ${state === 'failed' ? 'failed' : 'is incomplete'}${why}`;
    if (state === 'failed') yield { ...about, kind: 'run_failed', state: 'failing', message };
    if (state === 'incomplete') yield { ...about, kind: 'run_incomplete', state: 'attention', message };
  }
  const waiting = { kind: 'run_waiting', state: 'attention', quiet: true, action: 'try_now' } as const;
  for (const { integration, sync, waiting: reason } of waitingRuns) {
    const why = waits.get(reason);
    if (why !== undefined)
      yield { ...waiting, integration, subject: sync, message: `The ${syncWords(sync)} run ${why}.` };
  }
  const known = new Set(waitingRuns.map(({ integration }) => integration));
  for (const integration of askedToWait) {
    if (!known.has(integration)) yield { ...waiting, integration, message: 'The partner asked us to wait (429).' };
  }
}

/** A single refusal may be a test of the sender. */
export const fewestRefusals = 3;
/** Of the last requests, this share refused is a fault although others are accepted, such as half a rotation of a secret. */
export const leastShare = 0.1;

export function* ofEvents({ feeds, refusals, pending, skews }: Facts): Generator<Judged> {
  for (const { integration, feed, judgement } of feeds) {
    if (!judgement.silent) continue;
    const expected = Math.round(judgement.expected ?? 0);
    const what = feed === 'push' ? 'No event' : 'No run has found a reservation';
    const message = `${what} for ${hours(judgement.silentMs)}; about ${expected} were expected.`;
    const detail = { expected, silent_ms: judgement.silentMs };
    yield { kind: 'feed_silent', state: 'failing', integration, subject: feed, message, detail };
  }
  for (const refused of refusals) yield* ofRefusals(refused);
  for (const { integration, count, oldest_ms } of pending) {
    if (oldest_ms < leastLateMs) continue;
    const message = `${counted(count, 'event')} not processed yet, the oldest for ${lateness(oldest_ms)}.`;
    const about = { kind: 'events_behind', state: 'attention', integration, message } as const;
    yield { ...about, detail: { count, oldest_ms }, ...(oldest_ms < behindMs && { quiet: true }) };
  }
  for (const { integration, ahead, taken } of skews) {
    if (ahead < 3 || ahead * 2 <= taken) continue;
    const message = `${ahead} of ${taken} events of the last hour had a time in the future: the sender's clock is ahead.`;
    yield { kind: 'clock_skew', state: 'attention', integration, message, detail: { ahead, taken } };
  }
}

/** A wrong clock is the cause of what it makes us refuse. */
export const isUntimely = ({ reason }: Refusals): boolean => reason.startsWith('timestamp_');

function* ofRefusals({ integration, ...refused }: Facts['refusals'][number]): Generator<Judged> {
  const { count, code, reason, lately, acceptedLately, since } = refused;
  const share = lately / Math.max(1, lately + acceptedLately);
  const kind = isUntimely(refused) ? 'clock_skew' : 'webhooks_refused';
  const about = { kind, integration, message: describeRefusals(refused) } as const;
  const detail = { code, reason, count };
  if (since >= fewestRefusals || (lately >= fewestRefusals && share >= 0.5))
    yield { ...about, state: 'failing', detail };
  else if (lately >= fewestRefusals && share >= leastShare) yield { ...about, state: 'attention', detail };
  else if (since > 0) yield { ...about, state: 'attention', quiet: true, detail };
}

/** By the reason of a refusal: the cause and the remedy, where they say more than the code does. */
const causes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    signature_wrong:
      'The signature is wrong: the partner signs with another secret, or not the bytes it sends. Rotate the secret and give the new one to the partner, who can try it at the sandbox.',
    no_valid_secret: 'No secret is active: rotate the secret and give the new one to the partner.',
    timestamp_old: 'The partner’s clock is wrong: ask the partner to synchronize it (NTP).',
    timestamp_ahead: 'The partner’s clock is wrong: ask the partner to synchronize it (NTP).',
  }),
);

/** What is refused, and the remedy. */
function describeRefusals({ count, code, reason, lately, acceptedLately, everAccepted, since }: Refusals): string {
  const were = count === 1 ? 'webhook was' : 'webhooks were';
  const others = !everAccepted
    ? 'none was ever accepted'
    : since > 0
      ? 'none was accepted since'
      : `${lately} of the last ${lately + acceptedLately}`;
  return `${count} ${were} refused in the last 24 hours, ${others}. ${remedyOf({ code, reason })}`;
}

/** Why a webhook was refused, and what to do. */
export function remedyOf({ code, reason }: Pick<Refusals, 'code' | 'reason'>): string {
  const { what, next } = errors[code as ErrorCode] ?? { what: `${code}, ${reason}.`, next: '' };
  return causes.get(reason) ?? `${what} ${next}`;
}

/** After a node died, the partner may still count its connection for a moment. */
export const fewestFailures = 3;
/** Partners keep events for a week: two days are left to act. */
export const mostBehindMs = 5 * 24 * 3_600_000;

export function* ofStreams({ streams }: Facts): Generator<Judged> {
  for (const { account: integration, behind_ms, has_gap, ...stream } of streams) {
    const { failures, failure, refused } = stream;
    const isFailing = failure !== null && failures >= (failure === 'push.stream_excess' ? 1 : fewestFailures);
    const detail = { code: failure, failures };
    if (integration.startsWith('destination:')) {
      const subject = integration.slice('destination:'.length);
      const message = `Unsubscribes at ${subject} cannot be read, so other destinations are not updated. ${reasonOf(stream)}`;
      if (isFailing) yield { kind: 'feedback_failing', state: 'attention', subject, message, detail };
      continue;
    }
    if (isFailing)
      yield { kind: 'stream_failing', state: 'failing', integration, message: describeFailure(stream), detail };
    if (refused !== null) {
      const about = { integration, subject: 'stream', message: describeUnread(refused) };
      const isFew = refused.count < fewestRefusals;
      const level = isFew ? ({ state: 'attention', quiet: true } as const) : ({ state: 'failing' } as const);
      yield { kind: 'webhooks_refused', ...about, ...level, detail: { reason: refused.reason } };
    }
    if (has_gap) {
      const message = 'Events of the stream are missing: the partner no longer had those since our last connection.';
      yield { kind: 'stream_gap', state: 'failing', integration, message };
    }
    if (behind_ms === null || behind_ms < mostBehindMs) continue;
    const message = `The stream was last read to its end ${hours(behind_ms)} ago. The partner keeps events for a limited time, usually a week; later ones are lost.`;
    yield { kind: 'stream_behind', state: 'failing', integration, message, detail: { behind_ms } };
  }
}

/** Why a stream cannot be read, and the remedy. */
export function describeFailure({ failure, said }: Pick<StreamFacts, 'failure' | 'said'>): string {
  if (failure === 'push.stream_taken')
    return 'Another program reads the stream of this brand: the partner closes our connection. Events wait at the partner.';
  return `The stream cannot be read. ${reasonOf({ failure, said })} Events wait at the partner.`;
}

function reasonOf({ failure, said }: Pick<StreamFacts, 'failure' | 'said'>): string {
  const { what, next } = errors[failure as ErrorCode] ?? { what: `${failure}.`, next: '' };
  return [what, said !== null && `The answer was: “${said}”.`, next].filter(Boolean).join(' ');
}

/** What of a stream's messages the connector does not describe, and the remedy. */
export const describeUnread = ({ reason }: { readonly reason: string }): string =>
  `The stream sends messages that cannot be used: ${reason}. Correct the connector; innbound map CONNECTOR --push --sample FILE tries a message. Afterwards the stream is read again from the first of them.`;

export function* ofVolumes({ volumes }: Facts): Generator<Judged> {
  for (const { integration, measure, now, usual, listsChanges, history } of volumes) {
    const detail = { measure, now, usual, history: [...history] };
    const about = { state: 'attention' as const, integration, detail };
    const [few, many] = [Math.round(now), Math.round(usual)];
    if (measure === 'events') {
      const message = `${counted(few, 'event')} in 24 hours; this weekday usually has about ${many}.`;
      yield { ...about, kind: 'feed_low', subject: 'push', message };
    } else if (measure === 'rows') {
      const what = listsChanges ? 'The runs of 24 hours brought' : 'A run brings';
      const message = `${what} ${counted(few, 'reservation')}; on this weekday it is usually about ${many}.`;
      yield { ...about, kind: 'feed_low', subject: 'pull', message };
    } else if (measure === 'run_seconds') {
      const message = `Runs take ${few} seconds on average; on this weekday it is usually ${many}.`;
      yield { ...about, kind: 'runs_slow', message };
    } else {
      const percent = (share: number) => `${Number((share * 100).toFixed(1))} %`;
      const message = `${percent(now)} of the rows and events of 24 hours became dead letters; usually it is ${percent(usual)}.`;
      yield { ...about, kind: 'dead_letter_share', message };
    }
  }
}
