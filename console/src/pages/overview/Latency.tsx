import { latencyBoundsMs } from '../../../../src/kit/histogram.ts';
import type { Overview } from '../../api/types.ts';
import { Card } from '../../parts/basics.tsx';
import { percent, span } from '../../parts/format.ts';
import { latenciesOf } from '../../parts/latencies.ts';

/** The bounds that are drawn; shorter and longer ones are joined with the first and the last. */
const drawn: readonly (number | null)[] = [...latencyBoundsMs.filter((ms) => ms >= 50 && ms <= 300_000), null];

function histogramOf(latencies: readonly number[]): { below_ms: number | null; count: number }[] {
  const counts = drawn.map(() => 0);
  for (const [bucket, count] of latencies.entries()) {
    const bound = latencyBoundsMs[bucket];
    const at = drawn.findIndex((ms) => ms === null || (bound !== undefined && bound <= ms));
    counts[at] = (counts[at] ?? 0) + count;
  }
  return drawn.map((below_ms, at) => ({ below_ms, count: counts[at] ?? 0 }));
}

/** How long deliveries took or have taken so far, with the time after which one is late. */
export function Latency({ data }: { data: Overview }) {
  const { late_after_ms } = data;
  const latencies = histogramOf(latenciesOf(data));
  const total = latencies.reduce((sum, { count }) => sum + count, 0);
  const most = Math.max(1, ...latencies.map(({ count }) => count));
  const isLate = (below: number | null) => below === null || below > late_after_ms;
  const inTime = latencies.filter(({ below_ms }) => !isLate(below_ms)).reduce((sum, { count }) => sum + count, 0);
  const label = (below: number | null) => (below === null ? 'more' : String(below / 1_000).replace('0.', '.'));
  return (
    <Card
      title="From change to delivery"
      aside={total === 0 ? undefined : `${percent(inTime / total)} within ${span(late_after_ms)}; in seconds`}
    >
      {total === 0 ? (
        <p className="muted">Nothing was delivered in this period, and nothing is late.</p>
      ) : (
        <ol className="histogram">
          {latencies.map(({ below_ms, count }, index) => (
            <li
              key={below_ms}
              data-late={isLate(below_ms)}
              data-first-late={isLate(below_ms) && !isLate(latencies[index - 1]?.below_ms ?? 0)}
            >
              <span className="visually-hidden">
                {below_ms === null ? 'longer' : `below ${label(below_ms)} s`}: {percent(count / total)}
              </span>
              <i style={{ height: `${(count / most) * 100}%`, minHeight: Math.min(count, 1) }} />
              <small aria-hidden="true">{label(below_ms)}</small>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
