import type { Timers } from './clock.ts';

/**
 * Which loops of the process are making progress. A loop reports the start of a turn, its progress, and its pauses; one whose
 * turn makes no progress for longer than `stallsAfterMs` has stalled, for example because the database no longer answers.
 */
export class Heartbeats {
  readonly #clock: Pick<Timers, 'uptimeMs'>;
  readonly #working = new Map<string, { readonly sinceMs: number; readonly stallsAfterMs: number }>();

  constructor(clock: Pick<Timers, 'uptimeMs'>) {
    this.#clock = clock;
  }

  /** The loop began a turn, or made progress in it. */
  beat(loop: string, stallsAfterMs: number): void {
    this.#working.set(loop, { sinceMs: this.#clock.uptimeMs(), stallsAfterMs });
  }

  /** The loop has nothing to do, or has ended. */
  idle(loop: string): void {
    this.#working.delete(loop);
  }

  /** The loops that have stalled, with the time since their last progress. */
  stalled(): readonly { readonly loop: string; readonly forMs: number }[] {
    const now = this.#clock.uptimeMs();
    return [...this.#working]
      .map(([loop, { sinceMs, stallsAfterMs }]) => ({ loop, forMs: now - sinceMs, stallsAfterMs }))
      .filter(({ forMs, stallsAfterMs }) => forMs > stallsAfterMs)
      .map(({ loop, forMs }) => ({ loop, forMs }));
  }
}
