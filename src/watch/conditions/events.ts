import { type ErrorCode, errors } from '../../errors.ts';
import type { Facts, Refusals } from '../facts.ts';
import { behindMs, counted, hours, type Judged, lateness, leastLateMs } from './judged.ts';

/** A single refusal may be a test of the sender. */
export const fewestRefusals = 3;
/** Of the last requests, this share refused is a fault although others are accepted, such as half a rotation of a secret. */
const leastShare = 0.1;

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
  for (const { integration, refused, ahead, taken } of skews) {
    if (refused >= fewestRefusals) {
      const message = `${refused} events were refused because their timestamp was more than five minutes off: the sender's clock is wrong.`;
      yield { kind: 'clock_skew', state: 'failing', integration, message, detail: { refused } };
    } else if (ahead >= 3 && ahead * 2 > taken) {
      const message = `${ahead} of ${taken} events of the last hour had a time in the future: the sender's clock is ahead.`;
      yield { kind: 'clock_skew', state: 'attention', integration, message, detail: { ahead, taken } };
    }
  }
}

function* ofRefusals({ integration, ...refused }: Facts['refusals'][number]): Generator<Judged> {
  const { count, code, reason, lately, acceptedLately, since } = refused;
  const share = lately / Math.max(1, lately + acceptedLately);
  const about = { kind: 'webhooks_refused', integration, message: describeRefusals(refused) } as const;
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
  const { what, next } = errors[code as ErrorCode] ?? { what: `${code}, ${reason}.`, next: '' };
  return `${count} ${were} refused in the last 24 hours, ${others}. ${causes.get(reason) ?? `${what} ${next}`}`;
}
