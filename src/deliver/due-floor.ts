import type { Timers } from '../kit/clock.ts';
import type { DueLane } from './ports.ts';
import type { LaneKey } from './queued-lanes.ts';

/** Transactions that queue records are shorter than this; the rare longer ones are found by the next full scan. */
const marginMs = 10_000;
const standardFullScanMs = 30_000;

/**
 * The earliest time from which records can be due. Every delivery leaves a dead entry in the index of due records, and a reader that
 * holds a snapshot, such as a backup, keeps PostgreSQL from removing it. Without a lower bound, a claim walks over all of them: 42 ms of
 * processor time after 100,000 deliveries, instead of 2.6 ms (2 arm64 cores; bench/mechanisms.md, 7).
 *
 * A scan finds the first due record of each lane; the bound is a margin below the oldest of them. A full scan from time to time finds
 * what became due further in the past, by a transaction that took longer than the margin.
 */
export class DueFloor {
  readonly #clock: Timers;
  readonly #fullScanMs: number;
  /** In monotonic time, as all times here. */
  #oldestDueAtMs: number | undefined;
  #fullScanAtMs = Number.NEGATIVE_INFINITY;
  /** Lanes in which a record became due in the past. */
  readonly #open = new Set<string>();

  constructor(clock: Timers, fullScanMs: number = standardFullScanMs) {
    this.#clock = clock;
    this.#fullScanMs = fullScanMs;
  }

  /** Records of these lanes that became due longer ago than this need not be searched; undefined: search all. */
  sinceMs(lanes: readonly LaneKey[]): number | undefined {
    if (this.#oldestDueAtMs === undefined || lanes.some((lane) => this.#open.has(keyOf(lane)))) return undefined;
    return this.#clock.uptimeMs() - this.#oldestDueAtMs + marginMs;
  }

  /** Begins a scan of all lanes: from where it searches, and how to report what it found. */
  scan(): { readonly sinceMs: number | undefined; found(due: readonly DueLane[]): void } {
    const startedAtMs = this.#clock.uptimeMs();
    const isFull = startedAtMs >= this.#fullScanAtMs + this.#fullScanMs || this.#open.size > 0;
    const open = [...this.#open];
    return {
      sinceMs: isFull ? undefined : this.sinceMs([]),
      found: (due) => {
        this.#oldestDueAtMs = startedAtMs + Math.min(0, ...due.map(({ firstDueInMs }) => firstDueInMs));
        if (isFull) this.#fullScanAtMs = startedAtMs;
        for (const key of open) this.#open.delete(key);
      },
    };
  }

  /** The next scan is a full one. */
  forget(): void {
    this.#oldestDueAtMs = undefined;
    this.#fullScanAtMs = Number.NEGATIVE_INFINITY;
  }

  /** A version that was made a while ago became the next one to deliver, due since it was made. */
  reopen(lanes: readonly LaneKey[]): void {
    for (const lane of lanes) this.#open.add(keyOf(lane));
  }
}

const keyOf = ({ integration, destination }: LaneKey): string => `${destination} ${integration}`;
