import type { Http } from '../../../kit/http.ts';
import type { Authorizer, Outgoing } from '../../../outbound/authorizer.ts';
import { type DeliverLimits, type DestinationServices, lostLease, type Outcome } from '../../destination.ts';
import { askedWaitMs, outcomeOf } from '../../http-answer.ts';

/** All requests of a call share its deadline. */
export type Limits = DeliverLimits & { readonly deadlineAtMs: number };

export interface Requested {
  readonly outcome: Outcome;
  /** The answer's body; absent without an answer. */
  readonly bytes?: Uint8Array;
  /** The wait that the answer asks for. */
  readonly afterMs?: number | undefined;
}

export type Request = (asked: Outgoing, limits: Limits, accept: readonly number[]) => Promise<Requested>;

/** One request with credentials; a 401 renews them once. */
export function requester(http: Http, credentials: Authorizer, clock: DestinationServices['clock']): Request {
  return async (asked, limits, accept) => {
    for (let renewed = false; ; renewed = true) {
      const allowed = await credentials.authorize(asked);
      if (allowed.kind === 'failed') {
        const message = `No credentials: ${allowed.message}`;
        return { outcome: { kind: 'retry', code: 'deliver.auth_failed', message } };
      }
      const remainingMs = Math.ceil(limits.deadlineAtMs - clock.uptimeMs());
      if (remainingMs <= 0) {
        const message = 'The requests of this batch took longer than the timeout.';
        return { outcome: { kind: 'retry', code: 'deliver.timeout', message } };
      }
      // Credentials may have taken a while.
      const lost = lostLease(limits, remainingMs);
      if (lost !== undefined) return { outcome: lost };
      const { method, url, headers, body } = allowed.request;
      const answered = await http.request({
        method,
        url,
        headers: limits.traceparent === undefined ? headers : { ...headers, traceparent: limits.traceparent },
        ...(body !== undefined && { body }),
        deadlineMs: remainingMs,
        idleMs: remainingMs,
        expects: 'results',
        signal: limits.signal,
      });
      const isRefused = answered.kind === 'answer' && answered.status === 401;
      if (isRefused && !renewed && (await credentials.refused(allowed.request))) continue;
      const outcome = outcomeOf(answered, clock.now(), body);
      if (answered.kind !== 'answer') return { outcome };
      const { status, durationMs } = answered;
      if (accept.includes(status)) return { outcome: { kind: 'delivered', status, durationMs } };
      return { outcome, bytes: answered.bytes, afterMs: askedWaitMs(answered.headers, clock.now()) };
    }
  };
}

export const noCredentials: Authorizer = {
  authorize: async (request) => ({ kind: 'ok', request }),
  refused: async () => false,
};
