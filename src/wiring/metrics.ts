import { type Metrics, openMetrics } from '../api/metrics.ts';
import { systemClock } from '../kit/clock.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { readMetrics } from '../store/operate/metrics.ts';
import { lanesNow, openBreakers } from '../store/operate/overview.ts';

export function metricsOf(runtime: Runtime): Metrics {
  return openMetrics({
    now: systemClock.now,
    read: async () => {
      const all = [...runtime.active().integrations.values()];
      const lanes = all.flatMap(({ name, body }) =>
        body.deliver.map((destination) => ({ integration: name, destination })),
      );
      const [rows, waiting, breakers] = await Promise.all([
        readMetrics(
          runtime.pool,
          all.map(({ name }) => name),
        ),
        lanesNow(runtime.pool, lanes),
        openBreakers(runtime.pool),
      ]);
      return { rows, lanes: waiting, breakers };
    },
  });
}
