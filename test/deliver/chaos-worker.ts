/** One node of the chaos test: delivers until it is killed. Its settings come as JSON in the environment. */
import type pg from 'pg';
import { startDeliveries } from '../../src/core/deliver/deliveries.ts';
import { destinationType as files } from '../../src/core/deliver/destinations/files/destination.ts';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import { openPool } from '../../src/core/store/db/pool.ts';
import { outboxStore } from '../../src/core/store/outbox/settle.ts';
import { config, lane, ports, services } from './support.ts';

export interface WorkerSettings {
  readonly connection: pg.PoolConfig;
  readonly url: string;
  readonly folder: string;
  readonly timeoutMs: number;
}

const settings = JSON.parse(process.env.CHAOS ?? '{}') as WorkerSettings;
const pool = openPool({ connection: settings.connection, applicationName: 'chaos', maxConnections: 6 });
const offered = services(settings.folder);
const scheduleMs = [100, 200, 400, 800];
const lanes = ['lisbon', 'porto'].flatMap((brand) => [
  lane(config('crm', { batch: 1, concurrency: 16, timeoutMs: settings.timeoutMs, scheduleMs }), brand),
  lane(config('lake', { batch: 200, concurrency: 1, timeoutMs: 10_000, scheduleMs }), brand),
]);
const running = startDeliveries(
  ports(
    pool,
    lanes,
    {
      crm: http.open(http.settings.parse({ url: settings.url }), offered),
      lake: files.open(files.settings.parse({ path: '.' }), offered),
    },
    { store: outboxStore(pool), chance: Math.random, leaseMarginMs: 1_500, node: `worker ${process.pid}` },
  ),
);
process.on('SIGTERM', async () => {
  await running.stop();
  await pool.end();
  await offered.close();
});
