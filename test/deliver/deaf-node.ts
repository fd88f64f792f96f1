/** A node that claims changes for a destination that never answers, and waits to be killed. */
import type pg from 'pg';
import { startDeliveries } from '../../src/core/deliver/deliveries.ts';
import { openPool } from '../../src/core/store/db/pool.ts';
import { config, lane, ports, reservation, takeIn } from './support.ts';

const { connection, ids, timeoutMs } = JSON.parse(process.env.NODE_SETTINGS ?? '{}') as {
  connection: pg.PoolConfig;
  ids: readonly string[];
  timeoutMs: number;
};
const pool = openPool({ connection, applicationName: 'deaf node' });
const deaf = {
  deliver: async (batch: readonly { message: { data: { id: string } } }[]) => {
    if (batch[0]?.message.data.id === 'opens') return batch.map(() => ({ kind: 'delivered' as const }));
    return new Promise<never>(() => {});
  },
  close: async () => {},
};
const one = lane(config('crm', { batch: 1, concurrency: 2, timeoutMs }));
startDeliveries(ports(pool, [one], { crm: deaf }, { leaseMarginMs: 1_000 }));
const isIdle = async () => (await pool.query('select from outbox where due_at is not null')).rowCount === 0;
await takeIn(pool, [reservation('opens')], ['crm']);
while (!(await isIdle())) await new Promise((resolve) => setTimeout(resolve, 10));
const records = ids.map((id) => reservation(id));
await takeIn(pool, records, ['crm']);
const isLeased = async () => ((await pool.query('select from outbox where leased')).rowCount ?? 0) > 0;
while (!(await isLeased())) await new Promise((resolve) => setTimeout(resolve, 10));
process.send?.('leased');
