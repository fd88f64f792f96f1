import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../support/process.ts';
import { type Bench, openBench } from './events-support.ts';
import { integration, reservationData } from './support.ts';

/** A batch of events and a page of a poll lock the same reservations in opposite order. */

let bench: Bench;
before(async () => {
  bench = await openBench();
  for (const id of ['R-1', 'R-5']) {
    const guests = [{ first_name: 'Ana', last_name: `Of ${id}`, email: `${id.toLowerCase()}@mail.example` }];
    await bench.send('reservation.created', reservationData({ reservation_id: id, guests }));
  }
  await bench.work();
});
after(() => bench.end());

const lock = `select from records where integration = $1 and type = 'reservation' and id = $2 for update`;
const deadlocks = async (): Promise<number> => {
  await bench.pool.query('select pg_stat_force_next_flush()');
  const { rows } = await bench.pool.query<{ n: number }>(
    'select deadlocks::int as n from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.n ?? -1;
};
/** Waits until the worker's transaction waits for a lock. */
const workerWaits = (): Promise<unknown> =>
  until(
    'the worker waits',
    async () => (await bench.pool.query('select from pg_locks where not granted')).rowCount !== 0,
  );

const batches: readonly (readonly [what: string, send: () => Promise<void>])[] = [
  [
    'an update and then a guest of another reservation',
    async () => {
      await bench.send('reservation.updated', reservationData({ reservation_id: 'R-5', status: 'checked_in' }));
      await bench.send('guest.updated', { reservation_id: 'R-1', email: 'r-1@mail.example', first_name: 'Anna' });
    },
  ],
  [
    'a guest of one reservation who is in another one too',
    async () => {
      await bench.send('guest.updated', { reservation_id: 'R-5', email: 'r-1@mail.example', first_name: 'Anne' });
    },
  ],
];

for (const [what, send] of batches) {
  test(`${what}: the page that holds the other lock continues without a deadlock`, async () => {
    await send();
    const before = await deadlocks();
    const page = await bench.pool.connect();
    try {
      await page.query('begin');
      await page.query(lock, [integration, 'R-1']);
      const working = bench.work();
      await workerWaits();
      await page.query(lock, [integration, 'R-5']);
      await page.query('commit');
      await working;
    } finally {
      await page.query('rollback');
      page.release();
    }
    await bench.work();
    const { rows } = await bench.pool.query(`select from events where state <> 'done'`);
    assert.equal(rows.length, 0, 'every event is processed');
    assert.equal(await deadlocks(), before);
  });
}
