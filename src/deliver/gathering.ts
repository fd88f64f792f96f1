import type { Timers } from '../kit/clock.ts';
import { type Leased, LeasedQueue } from './leased-queue.ts';
import type { DestinationConfig } from './ports.ts';

/**
 * Gathers leased records into calls. A full call is sent at once. Any other waits for as long as the document says (`batch.wait`);
 * without that setting it waits briefly, and only if the last call was a moment ago, so that a single change on a quiet system does
 * not wait.
 *
 * Records wait for half of the lease margin at most: after that too little of the lease is left for a call.
 */
export class Gathering {
  readonly queue = new LeasedQueue();
  /** How long a call waits for more records under load. */
  readonly gatherMs: number;
  readonly #config: DestinationConfig;
  readonly #clock: Timers;
  readonly #leaseMarginMs: number;

  constructor(config: DestinationConfig, clock: Timers, leaseMarginMs: number) {
    this.#config = config;
    this.#clock = clock;
    this.#leaseMarginMs = leaseMarginMs;
    this.gatherMs = gatherMsOf(config.batch);
  }

  /** When to look at the queue again, if something in it waits for more. */
  get checkAfterMs(): number {
    return Math.min(this.gatherMs, this.#config.batchWaitMs || this.gatherMs);
  }

  /** The records of the next call; undefined while all of them should wait for more. */
  next(lastCallAtMs: number): Leased | undefined {
    return this.queue.take(this.#config.batch, (queued) => this.#isReady(queued, lastCallAtMs));
  }

  /** Too little of the lease is left for a call. */
  isShort({ lease }: Leased): boolean {
    return lease.leftMs < this.#config.timeoutMs + this.#leaseMarginMs / 2;
  }

  *takeAll(): Generator<Leased> {
    for (let left = this.queue.take(Infinity); left !== undefined; left = this.queue.take(Infinity)) yield left;
  }

  #isReady(queued: Leased, lastCallAtMs: number): boolean {
    const { batch, batchWaitMs } = this.#config;
    if (queued.claims.length >= batch || this.isShort(queued)) return true;
    const { sinceMs } = queued;
    const readyAtMs = batchWaitMs > 0 ? sinceMs + batchWaitMs : Math.min(sinceMs, lastCallAtMs) + this.gatherMs;
    return this.#clock.uptimeMs() >= readyAtMs;
  }
}

/**
 * A quarter of a millisecond for each record that a call can take. The postgres destination needs 73 µs per record in batches of 1,000
 * and 92 µs in batches of 200 (`bench deliver`, 2 cores, arm64), so its calls wait for up to 250 ms. A destination that takes single
 * records waits only 10 ms between claims.
 */
const gatherMsOf = (batch: number): number => Math.min(Math.max(10, batch / 4), 250);
