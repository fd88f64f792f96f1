import { latencyBoundsMs } from '../../../src/kit/histogram.ts';
import type { Overview, Point } from '../api/types.ts';

type Counted = Pick<Overview, 'latency_waiting' | 'late_after_ms'> & {
  readonly series: readonly Pick<Point, 'latency'>[];
};

/** The times of deliveries, and of what waits already longer than it should: its age so far. Younger work may still be in time. */
export function latenciesOf({ series, latency_waiting, late_after_ms }: Counted): number[] {
  const late = latency_waiting.map((count, bucket) =>
    (latencyBoundsMs[bucket - 1] ?? 0) >= late_after_ms ? count : 0,
  );
  return [...latencyBoundsMs, null].map((_, bucket) =>
    [late, ...series.map(({ latency }) => latency)].reduce((sum, counts) => sum + (counts[bucket] ?? 0), 0),
  );
}
