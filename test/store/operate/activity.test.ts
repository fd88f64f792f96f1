import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeliveryTally } from '../../../src/core/deliver/settle.ts';
import { destinationsNow } from '../../../src/core/store/outbox/delivery-list.ts';
import { addTally, countActivity } from '../../../src/operator/store/activity.ts';
import { readActivity, readBrandActivity, readDays } from '../../../src/operator/store/read-activity.ts';
import { openStore } from '../../deliver/support.ts';

test('nodes add what they delivered to the ten seconds and the hour, with the latencies of all', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const at = Math.floor(Date.now() / 10_000) * 10_000 - 30_000;
  /** Latencies from 1 ms to `count` ms. */
  const tallied = (integration: string, count: number) => {
    const tally = new DeliveryTally();
    for (let n = 1; n <= count; n++) tally.add([settlement(integration, 'crm', 'delivered', at - n)], at);
    tally.add([settlement(integration, 'crm', 'retry'), settlement(integration, 'crm', 'dead')], at);
    tally.add([settlement(integration, 'innbound:profiles', 'delivered')], at);
    return tally;
  };
  const nodes = [tallied('grand', 100), tallied('grand', 100), tallied('small', 1)];
  await addTally(pool, tallied('late', 1), at + 5_000);
  for (const tally of nodes) await addTally(pool, tally, at + 10_000);
  for (const tally of nodes) await addTally(pool, tally, at + 10_000);
  for (const step of ['10s', '1h'] as const) {
    const { points } = await readActivity(pool, step, 3_600_000 * 2, undefined);
    assert.deepEqual(
      points.map(({ delivered, retried, dead, latency_p50_ms, latency_p95_ms }) => [
        [delivered, retried, dead],
        [latency_p50_ms, latency_p95_ms],
      ]),
      [
        [
          [201, 3, 3],
          [50, 95],
        ],
      ],
    );
  }
  const { rows } = await pool.query(
    "select integration, delivered::int, retried::int, dead::int from activity where step = 'ever' order by 1",
  );
  assert.deepEqual(rows, [
    { integration: 'grand', delivered: 200, retried: 2, dead: 2 },
    { integration: 'small', delivered: 1, retried: 1, dead: 1 },
  ]);
  const destinations = await destinationsNow(pool, ['crm']);
  assert.equal(destinations[0]?.last_delivered_at?.getTime(), at);
});

test('a day has the hours since the first activity and those in which a run found records, counted ones and the current one', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  // Yesterday from 10:00, with pulls in every hour but two; an event today that is in a ten-second step only.
  await pool.query(
    `insert into activity (integration, step, at, events, pulls)
     select 'grand', '1h', date_trunc('day', now(), 'UTC') - interval '1 day' + h * interval '1 hour', 1, case when h in (12, 13) then 0 else 2 end
       from generate_series(10, 23) h`,
  );
  await pool.query(`insert into marks (name, at) values ('activity 1h', date_trunc('hour', now()))`);
  await pool.query(
    `insert into activity (integration, step, at, events, pulls)
     values ('grand', '10s', now(), 3, 0), ('other', '10s', now() - interval '2 minutes', 1, 0)`,
  );
  const [yesterday, today, ...more] = await readDays(pool, ['grand'], 28);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [yesterday?.hours, yesterday?.pulled_hours, yesterday?.events],
    [14, 12, 14],
    JSON.stringify(yesterday),
  );
  assert.deepEqual([today?.pulled_hours, today?.events], [0, 3]);
  assert.ok(Number(today?.hours) >= 1);
  assert.deepEqual(await readBrandActivity(pool, '10s', 3_600_000, ['grand', 'other']), [
    { integration: 'grand', events: 3, changes: 0, moves: true },
    { integration: 'other', events: 1, changes: 0, moves: false },
  ]);
});

function settlement(
  integration: string,
  destination: string,
  kind: 'delivered' | 'retry' | 'dead',
  changedAt?: number,
) {
  const result = kind === 'retry' ? { kind, delayMs: 1, triesUsed: 1 } : { kind };
  const key = { integration, destination, type: 'reservation' as const, id: 'R', version: 1, fence: 1, attempt: 1 };
  return { ...key, result, ...(changedAt !== undefined && { changedAt }) };
}

test('an hour has the highest backlog of its ten-second steps, and the answer says up to when it is counted', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  await pool.query(
    `insert into activity (integration, step, at, events, pulls, changes, delivered, retried, dead, waiting)
     select 'grand', '10s', h.at + n * interval '10 s', 0, 0, 0, 0, 0, 0, n
       from generate_series(1, 40) n, (select date_trunc('hour', now() - interval '65 minutes') as at) h`,
  );
  await pool.query(
    `insert into marks (name, at) values ('activity 1h', date_trunc('hour', now() - interval '65 minutes'))`,
  );
  await countActivity(pool);
  const { points, countedUntil } = await readActivity(pool, '1h', 24 * 3_600_000, undefined);
  assert.deepEqual(
    points.map(({ waiting, events }) => [waiting, events]),
    [[40, 0]],
  );
  assert.ok((countedUntil?.getTime() ?? 0) >= Number(points[0]?.at) + 3_600_000);
});

test('the hour that is not over yet is made of its ten-second steps', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  await pool.query(
    `insert into activity (integration, step, at, events, pulls, changes, delivered, retried, dead, waiting)
     select 'grand', '10s', date_trunc('hour', now()) + n * interval '1 ms', 5, 0, 2, 7, 0, 0, n from generate_series(1, 3) n
     union all select 'grand', '1h', date_trunc('hour', now()), 0, 0, 0, 21, 0, 0, 0`,
  );
  await pool.query(`insert into marks (name, at) values ('activity 1h', date_trunc('hour', now()))`);
  const { points } = await readActivity(pool, '1h', 24 * 3_600_000, undefined);
  const counted = points.map(({ events, changes, delivered, waiting }) => ({ events, changes, delivered, waiting }));
  assert.deepEqual(counted, [{ events: 15, changes: 6, delivered: 21, waiting: 3 }]);
  const [brand] = await readBrandActivity(pool, '1h', 24 * 3_600_000, ['grand']);
  assert.deepEqual([brand?.events, brand?.changes], [15, 6]);
});

test('an hour counts what its runs brought, how long they took, and what became a dead letter; a backfill does not count', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const at = `date_trunc('hour', now() - interval '65 minutes')`;
  const run = (id: string, sync: string) =>
    pool.query(
      `insert into runs (integration, run_id, sync, kind, state, requested_by, started_at, finished_at, fetched, dead)
       values ('grand', $1, $2, 'scheduled', 'complete', 'test', ${at}, ${at} + interval '30 s', 40, 3)`,
      [id, sync],
    );
  await run('run_1', 'stay');
  await run('run_2', 'pre_stay');
  await run('run_3', 'backfill');
  await pool.query(
    `insert into events (integration, seq, endpoint_id, event_id, event, occurred_at, received_at, body_hash, state)
     select 'grand', n, 'ep', 'e' || n, 'reservation.updated', ${at}, ${at}, '', case when n < 3 then 'dead' else 'done' end
       from generate_series(1, 5) n`,
  );
  await pool.query(`insert into marks (name, at) values ('activity 1h', ${at})`);
  await countActivity(pool);
  const { rows } = await pool.query(
    `select pulls, rows, run_ms::int, dead_rows, events, dead_events from activity where step = '1h'`,
  );
  assert.deepEqual(rows, [{ pulls: 2, rows: 80, run_ms: 60_000, dead_rows: 6, events: 5, dead_events: 2 }]);
});
