import type { Authorizer, Outgoing } from '../../../outbound/authorizer.ts';
import { type DestinationServices, type Limit, lostLease, type Outcome } from '../../destination.ts';
import { askedWaitMs, outcomeOf, usedUpMs } from '../../http-answer.ts';
import type { Limits, Pace } from './pace.ts';

export interface Requested {
  readonly outcome: Outcome;
  /** The answer's body; absent without an answer. */
  readonly bytes?: Uint8Array;
  /** The wait that the answer asks for. */
  readonly afterMs?: number | undefined;
}

export type Request = (asked: Outgoing, limits: Limits, accept: readonly number[], limit?: Limit) => Promise<Requested>;

/** One request with credentials, when its turn comes; a 401 renews them once. */
export function requester(
  { http, clock }: Pick<DestinationServices, 'http' | 'clock'>,
  credentials: Authorizer,
  pace: Pace,
): Request {
  return async (asked, limits, accept, limit) => {
    for (let renewed = false; ; renewed = true) {
      const notNow = await pace.turn(limit, limits);
      if (notNow !== undefined) return { outcome: notNow };
      const allowed = await credentials.authorize(asked);
      if (allowed.kind === 'failed') {
        const message = `No credentials: ${allowed.message}`;
        return { outcome: { kind: 'retry', code: 'deliver.auth_failed', message } };
      }
      // Credentials may have taken a while.
      const lost = lostLease(limits, limits.deadlineMs);
      if (lost !== undefined) return { outcome: lost };
      const { method, url, headers, body } = allowed.request;
      const answered = await http.request({
        method,
        url,
        headers: limits.traceparent === undefined ? headers : { ...headers, traceparent: limits.traceparent },
        ...(body !== undefined && { body }),
        deadlineMs: limits.deadlineMs,
        idleMs: limits.deadlineMs,
        expects: 'results',
        signal: limits.signal,
      });
      const isRefused = answered.kind === 'answer' && answered.status === 401;
      if (isRefused && !renewed && (await credentials.refused(allowed.request))) continue;
      const outcome = outcomeOf(answered, clock.now(), body);
      if (answered.kind !== 'answer') return { outcome };
      const { status, durationMs } = answered;
      pace.pause(limit, usedUpMs(answered.headers, clock.now()));
      if (accept.includes(status)) return { outcome: { kind: 'delivered', status, durationMs } };
      return { outcome, bytes: answered.bytes, afterMs: askedWaitMs(answered.headers, clock.now()) };
    }
  };
}

export const noCredentials: Authorizer = {
  authorize: async (request) => ({ kind: 'ok', request }),
  refused: async () => false,
};
