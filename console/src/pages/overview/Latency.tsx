import type { Overview } from '../../api/types.ts';
import { Card } from '../../parts/basics.tsx';
import { percent, span } from '../../parts/format.ts';

/** How long deliveries took, with the time after which one is late. */
export function Latency({ data }: { data: Overview }) {
  const { latencies, late_after_ms } = data;
  const total = latencies.reduce((sum, { count }) => sum + count, 0);
  const most = Math.max(1, ...latencies.map(({ count }) => count));
  const isLate = (below: number | null) => below === null || below > late_after_ms;
  const inTime = latencies.filter(({ below_ms }) => !isLate(below_ms)).reduce((sum, { count }) => sum + count, 0);
  const label = (below: number | null) => (below === null ? 'more' : String(below / 1_000));
  return (
    <Card
      title="From change to delivery"
      aside={total === 0 ? undefined : `${percent(inTime / total)} within ${span(late_after_ms)}; in seconds`}
    >
      {total === 0 ? (
        <p className="muted">Nothing was delivered in this period.</p>
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
              <i style={{ height: `${(count / most) * 100}%` }} />
              <small aria-hidden="true">{label(below_ms)}</small>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
