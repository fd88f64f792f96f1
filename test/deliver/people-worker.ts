/** One node that delivers to a preset until it is killed. Its settings come as JSON in the environment. */
import type pg from 'pg';
import { startDeliveries } from '../../src/core/deliver/deliveries.ts';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import { compileFields } from '../../src/core/deliver/message.ts';
import { openPool } from '../../src/core/store/db/pool.ts';
import { config, lane, ports, services } from './support.ts';

export interface PeopleWorkerSettings {
  readonly connection: pg.PoolConfig;
  readonly preset: string;
  readonly variables: Readonly<Record<string, string>>;
}

const { connection, preset, variables } = JSON.parse(process.env.PEOPLE_WORKER ?? '{}') as PeopleWorkerSettings;
const pool = openPool({ connection, applicationName: 'people', maxConnections: 4 });
const settings = http.settings.parse({ preset, with: variables });
const selection = { receives: ['reservation' as const], fields: compileFields({}), comparesConsent: true };
const scheduleMs = [50, 50, 50, 50, 50, 50, 50, 50];
const crm = config('crm', {
  batch: http.batch(settings).standard,
  concurrency: 2,
  timeoutMs: 2_000,
  scheduleMs,
  selection,
});
const destination = http.open(settings, services('/'));
startDeliveries(ports(pool, [lane(crm)], { crm: destination }, { leaseMarginMs: 300, node: `worker ${process.pid}` }));
