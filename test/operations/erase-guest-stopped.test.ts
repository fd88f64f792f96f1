import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { until } from '../support/process.ts';
import { tablesWith } from './erase-support.ts';

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

/** Starts an erasure that waits for `lock`, and stops it once its search has reached `place`. */
async function stopped(whom: { email: string }, lock: string, place: string | null) {
  const token = await node.token('admin');
  const holder = await node.runtime.pool.connect();
  try {
    await holder.query('begin');
    await holder.query(lock);
    const erasing = eraseGuest(node.runtime, whom, 'officer');
    const running = await until('the erasure waits', async () => {
      const { body } = await node.call('GET', '/privacy/erasures', token);
      const [one] = body.items;
      return one?.state === 'running' && (one.progress?.place ?? null) === place ? one : undefined;
    });
    const { status } = await node.call('POST', `/privacy/erasures/${running.erasure_id}/stop`, token, {});
    assert.equal(status, 200);
    const ended = await erasing;
    assert.equal(ended.state, 'stopped');
    const again = await node.call('POST', `/privacy/erasures/${running.erasure_id}/stop`, token, {});
    assert.equal(again.status, 409);
    return (await node.call('GET', `/privacy/erasures/${running.erasure_id}`, token)).body;
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

test('stopped before the records are rewritten, an erasure has erased nothing', async () => {
  const whom = { email: 'stay@mail.example' };
  await node.take('grand', reservation('S1', { guests: [{ last_name: 'Osei', ...whom }] }));
  const lock = `select pg_advisory_xact_lock_shared(hashtextextended('erasure', 0))`;
  const { state, removed, stopped_by, completed_at } = await stopped(whom, lock, null);
  assert.deepEqual({ state, removed, completed_at }, { state: 'stopped', removed: {}, completed_at: null });
  assert.match(stopped_by, /admin/);
  assert.ok((await tablesWith(node, whom.email)).includes('records'));
});

test('stopped in the search through payloads, what is erased stays erased; erasing again finishes it', async () => {
  const whom = { email: 'stay@mail.example' };
  const { state, removed, progress, notified } = await stopped(whom, 'lock table sandbox_reports', 'sandbox_reports');
  assert.equal(state, 'stopped');
  assert.equal(removed.records, 1);
  assert.equal(progress.place, 'sandbox_reports');
  assert.equal(notified[0].destination, 'lake');
  assert.ok(!(await tablesWith(node, whom.email)).includes('records'));
  const finished = await eraseGuest(node.runtime, whom, 'officer');
  assert.notEqual(finished.completed_at, null);
});

test('an erasure whose process ended is shown as interrupted', async () => {
  const { pool } = node.runtime;
  await pool.query(
    `insert into erasures (erasure_id, requested_by, subject, seen_at) values ('era_gone', 'officer', '', now() - interval '1 min')`,
  );
  const { body } = await node.call('GET', '/privacy/erasures/era_gone', await node.token('admin'));
  assert.equal(body.state, 'interrupted');
});
