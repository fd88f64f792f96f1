import { type Counters, noCounts, sum } from './run-state.ts';

/** The counters of a run: the stored ones, and those counted since, which the next write stores. */
export class RunCounters {
  #stored: Counters;
  #pending: Counters = noCounts;

  constructor(stored: Counters) {
    this.#stored = stored;
  }

  get total(): Counters {
    return sum(this.#stored, this.#pending);
  }

  get hasPages(): boolean {
    return this.#stored.pages > 0;
  }

  get pending(): Counters {
    return this.#pending;
  }

  add(counts: Partial<Counters>): void {
    this.#pending = sum(this.#pending, counts);
  }

  /** Takes the pending counts out, to be written with a page. */
  take(): Counters {
    const pending = this.#pending;
    this.#pending = noCounts;
    return pending;
  }

  stored(counts: Partial<Counters>): void {
    this.#stored = sum(this.#stored, counts);
  }
}
