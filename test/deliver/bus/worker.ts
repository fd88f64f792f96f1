/** A node that delivers to buses until it is killed. */
import type pg from 'pg';
import { startDeliveries } from '../../../src/core/deliver/deliveries.ts';
import { loadDestinationTypes } from '../../../src/core/deliver/destinations.ts';
import { openPool } from '../../../src/core/store/db/pool.ts';
import { config, lane, ports, services } from '../support.ts';

interface To {
  readonly name: string;
  readonly settings: unknown;
}

const { connection, to } = JSON.parse(process.env.NODE_SETTINGS ?? '{}') as { connection: pg.PoolConfig; to: To[] };
const types = await loadDestinationTypes();
const opened = to.map(({ name, settings }) => {
  const type = types.get(name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return [name, type.open(type.settings.parse(settings), services('/'))] as const;
});
const pool = openPool({ connection, applicationName: 'bus worker' });
const lanes = to.map(({ name }) => lane(config(name, { batch: 8, concurrency: 2, timeoutMs: 2_000 })));
startDeliveries(ports(pool, lanes, Object.fromEntries(opened), { leaseMarginMs: 500 }));
process.send?.('started');
