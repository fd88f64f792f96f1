import type { FastifyInstance, FastifyRequest } from 'fastify';
import { systemClock } from '../../kit/clock.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { healthOf } from '../operations/health.ts';
import { openCircuits } from '../store/feeds.ts';
import { readMetrics } from '../store/overview.ts';
import { findToken } from '../store/tokens.ts';
import { isServedOverHttps, shownToken } from './caller.ts';
import { type Metrics, openMetrics, registerMetrics } from './metrics.ts';
import { buildServer } from './server.ts';

export function metricsOf(runtime: Runtime): Metrics {
  return openMetrics({
    now: systemClock.now,
    read: async () => {
      const { pool } = runtime;
      const names = [...runtime.active().integrations.keys()];
      return {
        rows: await readMetrics(pool, names),
        health: await healthOf(runtime, names),
        partnerCircuits: await openCircuits(pool, 'partner'),
        circuits: await openCircuits(pool, 'destination'),
      };
    },
  });
}

/** Serves /metrics as the settings say; the returned server is the separate one, if there is one. */
export async function serveMetrics(
  runtime: Runtime,
  app: FastifyInstance,
  metrics: Metrics,
): Promise<FastifyInstance | undefined> {
  const { access, port, host } = runtime.active().settings.metrics;
  if (access === 'off') return undefined;
  if (port === undefined) {
    registerMetrics(app, metrics, async (request) => access === 'open' || (await mayRead(runtime, request)));
    return undefined;
  }
  const own = buildServer({ log: runtime.log, notReady: async () => [] });
  registerMetrics(own, metrics, async () => true);
  await own.listen({ host, port });
  return own;
}

async function mayRead(runtime: Runtime, { headers }: FastifyRequest): Promise<boolean> {
  const shown = shownToken(headers, isServedOverHttps(runtime));
  const row = shown && (await findToken(runtime.pool, shown.token));
  return row !== undefined && row.integrations === null;
}
