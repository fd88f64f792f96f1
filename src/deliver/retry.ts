/** When a failed delivery is retried, and when it becomes a dead letter. Pure: chance is an argument. */

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

/** `triesUsed` counts the failed tries before this one, of which the schedule allows one per entry; `chance` is in [0, 1). */
export function nextTry(
  { afterMs = 0, free = false, isOutage = false }: FailedTry,
  triesUsed: number,
  scheduleMs: readonly number[],
  chance: number,
): NextTry {
  const asked = Math.min(Math.max(afterMs, 0), longestWaitMs);
  const wait = (ms: number, used: number): NextTry => ({ kind: 'wait', delayMs: Math.round(ms), triesUsed: used });
  if (free) return wait(Math.max(asked, leastAskedMs) * (1 + (stretch / 5) * chance), triesUsed);
  // In an outage the circuit decides when to try again; the first delay only holds until it opens.
  const base = isOutage ? (scheduleMs[0] ?? leastAskedMs) : scheduleMs[triesUsed];
  if (base === undefined) return { kind: 'dead' };
  return wait(Math.max(base * (1 + stretch * chance), asked), isOutage ? triesUsed : triesUsed + 1);
}

/** True when a failure of this try would end in a dead letter. */
export function isLastTry(triesUsed: number, scheduleMs: readonly number[]): boolean {
  return triesUsed >= scheduleMs.length;
}
