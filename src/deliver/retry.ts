/** When a failed delivery is retried, and when it becomes a dead letter. Pure: chance is an argument. */

/** First try plus one retry per entry. */
export const standardScheduleMs: readonly number[] = [5_000, 60_000, 600_000, 3_600_000];

/** The longest wait that a destination can ask for at once. */
export const longestWaitMs = 24 * 3_600_000;

/** The shortest one: a destination that says "wait 0 seconds" is still busy. */
export const leastAskedMs = 1_000;

/** Waits are stretched by up to a quarter, so that records that failed together are not retried together. */
const stretch = 0.25;

export interface FailedTry {
  /** The wait that the destination asked for (Retry-After). */
  readonly afterMs?: number;
  /** The try does not count: the destination only asked to wait. */
  readonly free?: boolean;
  /** The try does not count: the destination is away altogether. */
  readonly isOutage?: boolean;
}

export type NextTry =
  | { readonly kind: 'wait'; readonly delayMs: number; readonly triesUsed: number }
  | { readonly kind: 'dead' };

/** `triesUsed` counts the failed tries before this one; `chance` is in [0, 1). */
export function nextTry(failed: FailedTry, triesUsed: number, scheduleMs: readonly number[], chance: number): NextTry {
  const asked = Math.min(Math.max(failed.afterMs ?? 0, 0), longestWaitMs);
  if (failed.free) {
    const least = Math.max(asked, leastAskedMs);
    return { kind: 'wait', delayMs: Math.round(least * (1 + (stretch / 5) * chance)), triesUsed };
  }
  if (failed.isOutage) {
    // The circuit decides when to try again; the first delay only holds until it opens.
    const base = scheduleMs[0] ?? leastAskedMs;
    return { kind: 'wait', delayMs: Math.round(Math.max(base * (1 + stretch * chance), asked)), triesUsed };
  }
  const base = scheduleMs[triesUsed];
  if (base === undefined) return { kind: 'dead' };
  return {
    kind: 'wait',
    delayMs: Math.round(Math.max(base * (1 + stretch * chance), asked)),
    triesUsed: triesUsed + 1,
  };
}

/** True when a failure of this try would end in a dead letter. */
export function isLastTry(triesUsed: number, scheduleMs: readonly number[]): boolean {
  return triesUsed >= scheduleMs.length;
}
