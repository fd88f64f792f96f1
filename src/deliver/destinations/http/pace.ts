import {
  type DeliverLimits,
  type DestinationServices,
  type Limit,
  leaseLost,
  type Outcome,
} from '../../destination.ts';

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
