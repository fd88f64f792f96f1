import { type Metrics, openMetrics } from '../api/metrics.ts';
import type { Ground } from '../ground.ts';
import { systemClock } from '../kit/clock.ts';
import { readMetrics } from '../store/metrics.ts';
import { lanesNow, openBreakers } from '../store/overview.ts';

export function metricsOf(ground: Ground): Metrics {
  return openMetrics({
    now: systemClock.now,
    read: async () => {
      const all = [...ground.active().integrations.values()];
      const lanes = all.flatMap(({ name, body }) =>
        body.deliver.map((destination) => ({ integration: name, destination })),
      );
      const [rows, waiting, breakers] = await Promise.all([
        readMetrics(
          ground.pool,
          all.map(({ name }) => name),
        ),
        lanesNow(ground.pool, lanes),
        openBreakers(ground.pool),
      ]);
      return { rows, lanes: waiting, breakers };
    },
  });
}
