import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countActivity, readActivity } from '../../../src/store/operate/activity.ts';
import { openStore } from '../../deliver/support.ts';

test('all deliveries are counted, and the latencies of a busy brand are those of a sample', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  /** Latencies from 1 ms to `count` ms, all delivered in one bucket. */
  const deliver = async (brand: string, count: number) => {
    await pool.query(
      `insert into history (integration, type, id, version, outcome, seq, effective_at, cause, cause_id, diff, idempotency_key, at)
       select $1, 'reservation', 'R' || n, 1, 'created', n, now(), 'run', 'run_1', '[]', 'key ' || n, b.at - n * interval '1 ms'
         from generate_series(1, $2) n, (select date_bin('10 s', now() - interval '30 s', 'epoch') as at) b`,
      [brand, count],
    );
    await pool.query(
      `insert into attempts (integration, destination, type, id, version, attempt, outcome, at)
       select integration, 'crm', type, id, 1, 1, 'delivered', at + seq * interval '1 ms' from history where integration = $1`,
      [brand],
    );
  };
  await deliver('small', 21);
  await deliver('busy', 8_000);
  await countActivity(pool);
  const { rows } = await pool.query<{ integration: string; delivered: number; p50: number; p95: number }>(
    `select integration, delivered, latency_p50_ms as p50, latency_p95_ms as p95 from activity where step = '10s' and delivered > 0
      order by integration`,
  );
  const [busy, small] = rows;
  assert.deepEqual(small, { integration: 'small', delivered: 21, p50: 11, p95: 20 });
  assert.equal(busy?.delivered, 8_000);
  assert.ok(
    busy.p50 > 3_500 && busy.p50 < 4_500 && busy.p95 > 7_400 && busy.p95 < 7_800,
    `${busy.p50}, ${busy.p95} ms`,
  );
});

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
  assert.equal(countedUntil?.getTime(), (points[0]?.at.getTime() ?? 0) + 3_600_000);
});
