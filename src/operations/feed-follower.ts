import { InnboundError } from '../errors.ts';
import type { Clock, Timers } from '../kit/clock.ts';
import type { Pool } from '../store/db/pool.ts';
import { type FeedHorizon, type FeedScope, feedNews } from '../store/records/feed.ts';
import type { EntityType } from '../terms.ts';

const everyMs = 200;
const mostWaiting = 1_000;

export interface Moved {
  /** Where to continue. */
  readonly position: number;
  /** Whether there may be changes in the reader's scope. */
  readonly isNews: boolean;
}

interface Waiter {
  readonly scope: FeedScope;
  /** Read up to here. */
  position: number;
  readonly wake: (isNews: boolean) => void;
}

/**
 * Wakes waiting readers when changes in their scope appear. Polls the store five times a second per node, whatever the number of
 * readers, and not at all without readers. A reader whose scope has no changes advances without a query.
 */
export class FeedFollower {
  readonly #db: Pool;
  readonly #horizon: FeedHorizon;
  readonly #clock: Clock & Timers;
  readonly #waiters = new Set<Waiter>();
  #isLooking = false;

  constructor(db: Pool, horizon: FeedHorizon, clock: Clock & Timers) {
    this.#db = db;
    this.#horizon = horizon;
    this.#clock = clock;
  }

  wait(scope: FeedScope, position: number, ms: number, signal: AbortSignal): Promise<Moved> {
    if (this.#waiters.size >= mostWaiting) {
      throw new InnboundError('operate.busy', 'Too many readers wait on this node; try again in a few seconds.');
    }
    return new Promise((resolve) => {
      const wake = (isNews: boolean): void => {
        cancel();
        signal.removeEventListener('abort', end);
        this.#waiters.delete(waiter);
        resolve({ position: waiter.position, isNews });
      };
      const end = () => wake(false);
      const waiter: Waiter = { scope, position, wake };
      const cancel = this.#clock.schedule(ms, end);
      signal.addEventListener('abort', end, { once: true });
      this.#waiters.add(waiter);
      if (!this.#isLooking) void this.#follow();
    });
  }

  async #follow(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiters.size > 0) {
      await this.#clock.wait(everyMs);
      // While the database is unreachable, readers wait until their time is over.
      await this.#look().catch(() => {});
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const now = await this.#horizon.look();
    const waiters = [...this.#waiters].filter(({ position }) => now !== undefined && position < now);
    if (now === undefined || waiters.length === 0) return;
    const from = Math.min(...waiters.map(({ position }) => position));
    const news = await feedNews(this.#db, from, now);
    for (const waiter of waiters) {
      // A reader that joined with an older position may be woken needlessly, but never misses a change.
      if (news.some((one) => covers(waiter.scope, one))) waiter.wake(true);
      else waiter.position = now;
    }
  }
}

function covers({ integrations, types }: FeedScope, one: { integration: string; type: EntityType }): boolean {
  return (
    (integrations === undefined || integrations.includes(one.integration)) &&
    (types === undefined || types.includes(one.type))
  );
}
