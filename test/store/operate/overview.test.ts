import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryingLanes } from '../../../src/operator/store/conditions.ts';
import { integrationsNow, lanesNow } from '../../../src/operator/store/overview.ts';
import { openStore } from '../../deliver/support.ts';

test('brands without rows cost little beside one brand that has nearly all', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  await pool.query(
    `insert into dead_letters (kind, integration, code, message, fingerprint)
     select 'record', 'grand', 'shape.missing_field', 'no arrival', n::text from generate_series(1, 5000) as n`,
  );
  await pool.query(
    `insert into alerts (alert_id, kind, integration, subject, severity, message, detail)
     select n::text, 'run_failed', 'grand', n::text, 'critical', 'failed', '{}' from generate_series(1, 5000) n`,
  );
  await pool.query(
    `insert into runs (integration, run_id, sync, kind, state, requested_by, queued_at, finished_at)
     select 'grand', n::text, 'stay', 'scheduled', 'complete', 'test', now() - n * interval '15 minutes', now()
       from generate_series(1, 5000) n`,
  );
  await pool.query(
    `insert into outbox (integration, destination, type, id, next_version, last_version, due_at)
     select 'grand', 'crm', 'reservation', n::text, 1, 1, now() + interval '1 hour' from generate_series(1, 5000) n`,
  );
  await pool.query('analyze');
  const names = ['grand', ...Array.from({ length: 20 }, (_, n) => `quiet-${n}`)];
  const lanes = names.map((integration) => ({ integration, destination: 'crm' }));
  const plans: string[] = [];
  const query = pool.query.bind(pool);
  const explained = Object.create(pool, {
    query: {
      value: async (text: string, values: unknown[]) => {
        const { rows } = await query(`explain (analyze, costs off, timing off, buffers off) ${text}`, values);
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return query(text, values);
      },
    },
  });
  const [grand, quiet] = await integrationsNow(explained, names);
  assert.equal(grand?.open_dead_letters, 5000);
  assert.deepEqual([quiet?.open_dead_letters, quiet?.last_run_at], [0, null]);
  assert.equal(grand?.last_run_status, 'complete');
  assert.equal((await lanesNow(explained, lanes))[0]?.waiting, 5000);
  await retryingLanes(explained, lanes as never);
  assert.equal(plans.length, 3);
  for (const plan of plans) {
    for (const [, removed] of plan.matchAll(/Rows Removed by Filter: ([\d.]+)/g))
      assert.ok(Number(removed) < 1000, plan);
  }
});
