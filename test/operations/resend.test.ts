import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resendDelivery } from '../../src/operator/operations/resend.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { until } from '../support/process.ts';

let node: ApiNode;
let operator: string;
before(async () => {
  node = await apiNode();
  operator = await node.token('operator', ['grand']);
  await node.take('grand', reservation('R1'), reservation('R2'));
  await node.take('other', reservation('X1'));
  // As if everything had been delivered.
  await node.runtime.pool.query(
    'update outbox set next_version = last_version + 1, delivered_version = last_version, due_at = null',
  );
});
after(() => node.stop());

const due = async () => {
  const { rows } = await node.runtime.pool.query<{ id: string }>(
    `select id from outbox where destination = 'lake' and type = 'reservation' and due_at is not null order by id`,
  );
  return rows.map(({ id }) => id);
};
const resend = (integration: string, body: { destination: string; id?: string }) =>
  node.call('POST', `/integrations/${integration}/resend`, operator, body);

test('one reservation is queued again for a destination, then all of its brand, and no other brand', async () => {
  const one = await resend('grand', { destination: 'lake', id: 'R2' });
  assert.deepEqual([one.status, one.body], [202, { queued: 1 }]);
  assert.deepEqual(await due(), ['R2']);
  const all = await resend('grand', { destination: 'lake' });
  assert.deepEqual(all.body, { queued: 1 }, 'R2 is queued already');
  assert.deepEqual(await due(), ['R1', 'R2']);
  const wanted = { destination: 'lake', integration: 'grand' };
  assert.deepEqual(await resendDelivery(node.runtime, wanted), { waiting: 2, held: 0 });
  assert.deepEqual(await resendDelivery(node.runtime, { ...wanted, id: 'R2' }), { waiting: 1, held: 0 });
});

test('refuses a destination that the brand does not deliver to, and brands outside the token', async () => {
  assert.equal((await resend('grand', { destination: 'crm' })).status, 422);
  assert.equal((await resend('other', { destination: 'lake' })).status, 404);
  const { token, call } = node;
  const job = { operation: 'resend', destination: 'crm', integration: 'grand' };
  for (const operation of ['resend', 'audit']) {
    const { body } = await call('POST', '/jobs', await token('operator', ['grand']), { ...job, operation });
    assert.equal(body.detail, 'grand does not deliver to crm; its destinations: lake.');
  }
});

test('a version that was delivered while a resend waited for its row is not followed by an older one', async () => {
  const { pool } = node.runtime;
  await pool.query(`update outbox set next_version = last_version + 1, due_at = null where integration = 'grand'`);
  const change = await pool.connect();
  await change.query('begin');
  await change.query(
    `update outbox set next_version = 3, last_version = 2, delivered_version = 2
      where integration = 'grand' and destination = 'lake' and type = 'reservation' and id = 'R1'`,
  );
  const resent = resend('grand', { destination: 'lake', id: 'R1' });
  await until('the resend waits for the row', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into outbox%'`,
    );
    return rows.length > 0;
  });
  await change.query('commit');
  change.release();
  assert.deepEqual((await resent).body, { queued: 0 });
  const { rows } = await pool.query(
    `select next_version, last_version from outbox
      where integration = 'grand' and destination = 'lake' and type = 'reservation' and id = 'R1'`,
  );
  assert.deepEqual(rows, [{ next_version: 3, last_version: 2 }]);
});
