import type { Timers } from '../kit/clock.ts';
import type { DueLane, LaneKey } from './ports.ts';

/**
 * The earliest time from which each lane can have due records. Every delivery leaves dead entries in the index of due records, and a reader that holds
 * a snapshot keeps PostgreSQL from removing them. Without a lower bound, a claim walks over all of them: 42 ms of processor time after
 * 100,000 deliveries, instead of 2.6 ms (2 arm64 cores).
 *
 * A scan for due work finds the first due record of each lane; the bound is a margin below it. A record can still become due further
 * in the past, by a transaction that took longer than the margin. Therefore a scan without bounds is done from time to time.
 */
export class LaneFloors {
  readonly #clock: Timers;
  readonly #hasFloor: (lane: LaneKey) => boolean;
  readonly #fullScanMs: number;
  /** When the first due record of a lane was due, if it was before the last scan. In monotonic time, as all times here. */
  #first = new Map<string, number>();
  #scannedAtMs: number | undefined;
  #fullScanAtMs = Number.NEGATIVE_INFINITY;
  /** Lanes in which a record became due in the past. */
  readonly #open = new Set<string>();

  /** `hasFloor`: not for lanes whose batches may wait, since their records are sent long after they became due. */
  constructor(clock: Timers, hasFloor: (lane: LaneKey) => boolean, fullScanMs: number = standardFullScanMs) {
    this.#clock = clock;
    this.#hasFloor = hasFloor;
    this.#fullScanMs = fullScanMs;
  }

  /** Records that became due longer ago than this need not be searched; undefined: search all. */
  sinceMs(lane: LaneKey): number | undefined {
    const key = keyOf(lane);
    if (this.#scannedAtMs === undefined || this.#open.has(key) || !this.#hasFloor(lane)) return undefined;
    return this.#clock.uptimeMs() - (this.#first.get(key) ?? this.#scannedAtMs) + marginMs;
  }

  /** The same for a scan of all lanes at once. */
  oldestSinceMs(): number | undefined {
    if (this.#scannedAtMs === undefined || this.#open.size > 0) return undefined;
    const first = this.#first.values().reduce((one, other) => Math.min(one, other), this.#scannedAtMs);
    return this.#clock.uptimeMs() - first + marginMs;
  }

  /** Begins a scan: whether it may be bounded, and how to report what it found. */
  scan(): { readonly isBounded: boolean; found(due: readonly DueLane[]): void } {
    const startedAtMs = this.#clock.uptimeMs();
    const isBounded = startedAtMs < this.#fullScanAtMs + this.#fullScanMs;
    const open = [...this.#open];
    return {
      isBounded,
      found: (due) => {
        const late = due.filter(({ firstDueInMs }) => firstDueInMs < 0);
        this.#first = new Map(late.map((lane) => [keyOf(lane), startedAtMs + lane.firstDueInMs]));
        this.#scannedAtMs = startedAtMs;
        if (!isBounded) this.#fullScanAtMs = startedAtMs;
        for (const key of open) this.#open.delete(key);
      },
    };
  }

  /** A version that was made a while ago became the next one to deliver, due since it was made. */
  reopen(lanes: readonly LaneKey[]): void {
    for (const lane of lanes) this.#open.add(keyOf(lane));
  }
}

/** Transactions that queue records are shorter than this; the rare longer ones are found by the next scan without bounds. */
const marginMs = 10_000;
const standardFullScanMs = 30_000;

const keyOf = ({ integration, destination }: LaneKey): string => `${destination} ${integration}`;
