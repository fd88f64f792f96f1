/** Upper bounds of a histogram of latencies, in milliseconds. The last count is of all that took longer. */
export const latencyBoundsMs = [
  2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000,
] as const;

export function latencyBucket(ms: number): number {
  const index = latencyBoundsMs.findIndex((bound) => ms <= bound);
  return index < 0 ? latencyBoundsMs.length : index;
}

/** Of a sample that stands for `total`. */
export function histogramOf(sample: readonly number[], total: number): number[] {
  const counts = [...latencyBoundsMs, 0].map(() => 0);
  for (const ms of sample) counts[latencyBucket(ms)] = (counts[latencyBucket(ms)] ?? 0) + 1;
  return counts.map((count) => Math.round((count * total) / Math.max(1, sample.length)));
}

/** Interpolated within its bucket; null for an empty histogram. */
export function percentileMs(histogram: readonly number[], share: number): number | null {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [bucket, count] of histogram.entries()) {
    const from = latencyBoundsMs[bucket - 1] ?? 0;
    const to = latencyBoundsMs[bucket] ?? from;
    if (left <= count && count > 0) return Math.round(from + (to - from) * (left / count));
    left -= count;
  }
  return latencyBoundsMs.at(-1) ?? null;
}
