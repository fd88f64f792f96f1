/** A node that delivers to a bus until it is killed. */
import type pg from 'pg';
import { startDeliveries } from '../../../src/deliver/deliveries.ts';
import { loadDestinationTypes } from '../../../src/deliver/destinations.ts';
import { openPool } from '../../../src/store/db/pool.ts';
import { config, lane, ports, services } from '../support.ts';

const { connection, type, settings } = JSON.parse(process.env.NODE_SETTINGS ?? '{}') as {
  connection: pg.PoolConfig;
  type: string;
  settings: unknown;
};
const destination = (await loadDestinationTypes()).get(type);
if (destination === undefined) throw new Error(`no type ${type}`);
const opened = destination.open(destination.settings.parse(settings), services('/'));
const pool = openPool({ connection, applicationName: 'bus worker' });
const one = lane(config('it', { batch: 5, concurrency: 2, timeoutMs: 3_000 }));
startDeliveries(ports(pool, [one], { it: opened }, { leaseMarginMs: 1_000 }));
process.send?.('started');
