export const mostTries = 5;
const firstDelayMs = 2_000;
const longestDelayMs = 60_000;

/** Exponential backoff with full jitter, so that nodes that failed together do not retry together. */
export function backoffMs(failures: number, random: number): number {
  return Math.round(random * Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 1)));
}

/** Bounds of a partner's Retry-After: less than a second is not a pause, more than an hour looks like an outage. */
export const retryAfterBounds = { leastMs: 1_000, mostMs: 3_600_000 } as const;
