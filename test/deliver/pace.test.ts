import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { drainOnce, startDeliveries } from '../../src/deliver/deliveries.ts';
import type { Outcome } from '../../src/deliver/destination.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { config, lane, openStore, ports, reservation, scripted, takeIn } from './support.ts';

const delivered: Outcome = { kind: 'delivered' };

async function setUp(t: TestContext, count: number) {
  const { pool, close } = await openStore();
  t.after(close);
  const ids = Array.from({ length: count }, (_, i) => `r${i}`);
  await takeIn(
    pool,
    ids.map((id) => reservation(id)),
    ['crm'],
  );
  return { pool };
}

test('the rate holds over all nodes', async (t) => {
  const { pool } = await setUp(t, 30);
  const times: number[] = [];
  const crm = scripted(() => {
    times.push(performance.now());
    return delivered;
  });
  const one = lane(config('crm', { batch: 1, rate: { perSecond: 40, burst: 6 } }));
  const nodes = [1, 2, 3].map(() => startDeliveries(ports(pool, [one], { crm: crm.destination })));
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  await until(() => times.length === 30);
  await Promise.all(nodes.map((node) => node.stop()));
  const took = (times.at(-1) ?? 0) - (times[0] ?? 0);
  // 6 at once, then 24 at 40 a second; a call may start a little after its grant.
  assert.ok(took >= 550, `30 calls in ${took} ms`);
});

test('a node whose clock is set back goes on', async (t) => {
  const { pool } = await setUp(t, 12);
  let aheadMs = 3_600_000;
  const crm = scripted(() => {
    aheadMs = 0;
    return delivered;
  });
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };
  const one = lane(config('crm', { batch: 1, concurrency: 1, rate: { perSecond: 20, burst: 1 } }));
  const node = startDeliveries(ports(pool, [one], { crm: crm.destination }, { clock }));
  t.after(() => node.stop());
  await until(() => crm.calls.length === 12);
});

test('an incomplete batch waits for more, a full one goes at once', async (t) => {
  const startedAt = performance.now();
  const { pool } = await setUp(t, 3);
  const crm = scripted(() => delivered);
  const one = lane(config('crm', { batch: 10, batchWaitMs: 800 }));
  const node = startDeliveries(ports(pool, [one], { crm: crm.destination }));
  t.after(() => node.stop());
  await until(() => crm.calls.length === 1);
  assert.ok(performance.now() - startedAt >= 790);
  assert.equal(crm.calls[0]?.length, 3);
  const full = Array.from({ length: 10 }, (_, i) => reservation(`f${i}`));
  const filledAt = performance.now();
  await takeIn(pool, full, ['crm']);
  await until(() => crm.calls.length === 2);
  await node.stop();
  assert.equal(crm.calls[1]?.length, 10);
  assert.ok(performance.now() - filledAt < 5_000);
});

test('a destination that cannot be opened uses no tries, and its work goes on once it can', async (t) => {
  const { pool } = await setUp(t, 2);
  const one = lane(config('crm'));
  const broken = ports(pool, [one], {});
  const counts = await drainOnce(broken);
  assert.deepEqual(counts, { delivered: 0, skipped: 0, retry: 0, dead: 0 });
  const { rows } = await pool.query('select attempt, leased from outbox');
  assert.deepEqual(rows, Array(2).fill({ attempt: 0, leased: false }));
  const crm = scripted(() => delivered);
  assert.equal((await drainOnce(ports(pool, [one], { crm: crm.destination }))).delivered, 2);
});

test('a paused destination rests; a changed document opens it anew', async (t) => {
  const { pool } = await setUp(t, 1);
  const first = scripted(() => delivered);
  const second = scripted(() => delivered);
  let current = config('crm', { paused: true });
  const opened: string[] = [];
  const node = startDeliveries(
    ports(
      pool,
      [],
      {},
      {
        lanes: () => [lane(current)],
        open: async ({ revision }) => {
          opened.push(revision);
          return revision === '1' ? first.destination : second.destination;
        },
      },
    ),
  );
  t.after(() => node.stop());
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.deepEqual(opened, []);
  current = config('crm', { revision: '1' });
  await until(() => first.calls.length === 1);
  current = config('crm', { revision: '2' });
  await takeIn(pool, [reservation('r0', { total_amount: '2' })], ['crm']);
  await until(() => second.calls.length === 1 || first.calls.length === 2);
  await node.stop();
  assert.deepEqual(opened.slice(0, 1), ['1']);
});

test('a document that reaches two nodes at different times, with calls under way, changes no order and doubles nothing', async (t) => {
  const { pool } = await setUp(t, 20);
  const told: { id: string; version: number; revision: string }[] = [];
  const revisions = ['1', '1'];
  const nodes = [0, 1].map((node) =>
    startDeliveries(
      ports(
        pool,
        [],
        {},
        {
          lanes: () => [lane(config('crm', { revision: revisions[node] ?? '', batch: 2, concurrency: 2 }))],
          open: async ({ revision }) =>
            scripted(async ({ message }) => {
              told.push({ id: String(message.data.id), version: message.version, revision });
              await new Promise((resolve) => setTimeout(resolve, 10));
              return delivered;
            }).destination,
        },
      ),
    ),
  );
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  const everything = Array.from({ length: 20 }, (_, i) => `r${i}`);
  const change = (amount: string) =>
    takeIn(
      pool,
      everything.map((id) => reservation(id, { total_amount: amount })),
      ['crm'],
    );
  await until(() => told.length > 3);
  revisions[0] = '2';
  await change('2');
  await until(() => told.some(({ revision }) => revision === '2'));
  await change('3');
  revisions[1] = '2';
  await until(() => told.length === 60);
  await Promise.all(nodes.map((node) => node.stop()));
  for (const id of everything) {
    const versions = told.filter((one) => one.id === id).map(({ version }) => version);
    assert.deepEqual(versions, [1, 2, 3], id);
  }
});

test('a destination that is taken away keeps its work; back again, it goes on where it was', async (t) => {
  const { pool } = await setUp(t, 3);
  const crm = scripted(() => delivered);
  const other = scripted(() => delivered);
  let lanes = [lane(config('other'))];
  const open = async ({ name }: { name: string }) => (name === 'crm' ? crm : other).destination;
  const nodes = [1, 2].map(() => startDeliveries(ports(pool, [], {}, { lanes: () => lanes, open })));
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  await takeIn(pool, [reservation('r0', { total_amount: '2' })], ['crm', 'other']);
  await until(() => other.messages().length === 1);
  assert.deepEqual(crm.calls, []);
  lanes = [lane(config('crm', { revision: '2' })), ...lanes];
  await until(() => crm.messages().length === 4);
  const told = crm.messages().filter(({ data }) => data.id === 'r0');
  assert.deepEqual(
    told.map(({ version }) => version),
    [1, 2],
  );
});

test('a record that makes a whole batch fail is found on its second try; a destination that is down is not hammered', async (t) => {
  const { pool } = await setUp(t, 32);
  const failed: Outcome = { kind: 'retry', code: 'deliver.server_error', message: '500', whole: true };
  let down = true;
  const crm = scripted((_one, batch): Outcome => {
    if (down) return failed;
    return batch.some(({ message }) => message.data.id === 'r13') ? failed : delivered;
  });
  const one = lane(config('crm', { batch: 32, scheduleMs: [1, 1, 1, 1] }));
  const drain = async () => {
    await pool.query('update outbox set due_at = now() where due_at is not null');
    const before = crm.calls.length;
    const counts = await drainOnce({ ...ports(pool, [one], { crm: crm.destination }), chance: () => 0 });
    return { ...counts, calls: crm.calls.length - before };
  };
  await pool.query(`update outbox set attempt = 0`);
  const still = config('crm', { batch: 32, scheduleMs: [60_000, 60_000, 60_000, 60_000] });
  Object.assign(one, { destination: still });
  assert.deepEqual(await drain(), { delivered: 0, skipped: 0, retry: 32, dead: 0, calls: 1 });
  const second = await drain();
  assert.equal(second.retry, 32);
  assert.ok(second.calls <= 9, `${second.calls} calls to a destination that is down`);
  down = false;
  const third = await drain();
  assert.deepEqual([third.delivered, third.retry], [31, 1]);
});

async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 90_000; !condition(); ) {
    assert.ok(Date.now() < deadline, 'it did not come to pass in 90 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
