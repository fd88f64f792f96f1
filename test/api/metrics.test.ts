import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { metricsOf } from '../../src/operator/api/node-metrics.ts';
import { countActivity } from '../../src/operator/store/activity.ts';
import { type ApiNode, apiNode, reservation } from './node.ts';

let node: ApiNode;
before(async () => {
  node = await apiNode();
  await node.take('grand', reservation('R1'), reservation('R2'), { id: 'BAD' });
  await node.runtime.pool.query(`update history set at = now() - interval '20 seconds'`);
  await countActivity(node.runtime.pool);
});
after(() => node.stop());

test('metrics show counts and backlog by integration, without guest data', async () => {
  const metrics = metricsOf(node.runtime);
  metrics.answered(202, undefined, 'grand');
  metrics.answered(401, 'push.unauthorized', undefined);
  const text = await metrics.text();
  for (const line of [
    'innbound_changes_total{integration="grand"} 2',
    'innbound_outbox_waiting{integration="grand",destination="lake"} 2',
    'innbound_outbox_waiting{integration="other",destination="lake"} 0',
    'innbound_dead_letters_open{integration="grand",kind="record"} 1',
    'innbound_webhooks_total{integration="grand",status="202",code=""} 1',
    'innbound_webhooks_total{integration="",status="401",code="push.unauthorized"} 1',
    'innbound_store_up 1',
    'innbound_runs_going 0',
  ]) {
    assert.ok(text.includes(line), `${line} in\n${text}`);
  }
  assert.ok(!/Prado|mail\.example/.test(text));
  assert.match(text, /process_resident_memory_bytes/);
});

test('counters never decrease, and a scrape without the store reports it', async () => {
  const pool = { query: () => Promise.reject(new Error('gone')) };
  const metrics = metricsOf({ ...node.runtime, pool } as unknown as typeof node.runtime);
  assert.match(await metrics.text(), /innbound_store_up 0/);
  const twice = metricsOf(node.runtime);
  await twice.text();
  await countActivity(node.runtime.pool);
  assert.match(await twice.text(), /innbound_changes_total\{integration="grand"\} 2/);
});
