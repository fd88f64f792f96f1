import type { Authorizer, Outgoing } from '../../../outbound/auth/outgoing.ts';
import {
  type DeliverLimits,
  type DestinationServices,
  type Limit,
  leaseLost,
  lostLease,
  type Outcome,
} from '../../destination.ts';
import { askedWaitMs, outcomeOf, usedUpMs } from '../../http-answer.ts';

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

/** `prepaid`: requests of this call that the claim has taken from the rate. */
export type Limits = DeliverLimits & { readonly prepaid: { requests: number } };

/** A call does not wait longer than this. The engine puts its records back instead. */
export const longestPauseMs = 60_000;

/** A wait is cut into parts, after each of which the lease is extended. */
const partMs = 5_000;

/**
 * When the requests of one destination may be sent: within its rate, which all nodes share, and on this node not before the end of a pause
 * that the vendor asked for. A call waits between its requests, so nothing that the vendor has accepted is sent again. What a call has done is
 * kept in memory only: after a crash its requests are repeated, which all of them allow.
 */
export class Pace {
  readonly #services: DestinationServices;
  readonly #pausedUntilMs = new Map<string, number>();

  constructor(services: DestinationServices) {
    this.#services = services;
  }

  /** Resolves when the request may be sent, or with the reason why it may not. The claim has paid for the first request of a call. */
  async turn(limit: Limit | undefined, limits: Limits): Promise<Outcome | undefined> {
    const { rate, takeRequest } = this.#services;
    const isPaid = rate !== undefined && limits.prepaid.requests-- > 0;
    const taken = rate === undefined ? limit : { name: '', rate };
    const { granted, waitMs } = taken && !isPaid ? await takeRequest(taken) : free;
    return granted === 0 ? notSent(waitMs) : this.#wait(limit, limits, waitMs);
  }

  /** The vendor asked to wait: this request and, under a known limit, all others of it. */
  rest(limit: Limit | undefined, limits: Limits, waitMs: number): Promise<Outcome | undefined> {
    this.pause(limit, waitMs);
    return this.#wait(limit, limits, waitMs);
  }

  pause(limit: Limit | undefined, waitMs: number): void {
    if (limit === undefined) return;
    const untilMs = this.#services.clock.uptimeMs() + waitMs;
    this.#pausedUntilMs.set(limit.name, Math.max(untilMs, this.#pausedUntilMs.get(limit.name) ?? 0));
  }

  async #wait(limit: Limit | undefined, limits: Limits, waitMs: number): Promise<Outcome | undefined> {
    const { clock } = this.#services;
    const readyAtMs = clock.uptimeMs() + waitMs;
    for (;;) {
      if (!(await limits.extend())) return leaseLost;
      const pausedUntilMs = limit === undefined ? 0 : (this.#pausedUntilMs.get(limit.name) ?? 0);
      const leftMs = Math.max(readyAtMs, pausedUntilMs) - clock.uptimeMs();
      if (leftMs <= 0) return undefined;
      if (leftMs > longestPauseMs || limits.signal.aborted) return notSent(leftMs);
      await clock.wait(Math.min(leftMs, partMs), limits.signal);
    }
  }
}

const free = { granted: 1, waitMs: 0 };

export const notSent = (afterMs: number): Outcome => ({
  kind: 'retry',
  code: 'deliver.rate_limited',
  message: 'Not sent: the rate of the destination, or the destination itself, asks to wait.',
  afterMs,
  free: true,
});
