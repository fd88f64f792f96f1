import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import type { Outcome } from '../../src/core/deliver/destination.ts';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import { takeRequest } from '../../src/core/store/remotes.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { until } from '../support/process.ts';
import { listen } from './http-server.ts';
import { listedLanes } from './lanes.ts';
import { config, lane, openStore, ports, reservation, scripted, services, startNode, takeIn } from './support.ts';

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
  const crm = scripted(() => delivered);
  const one = lane(config('crm', { batch: 1, rate: { everyMs: 3_600_000, burst: 6 } }));
  const refusals = [0, 0, 0];
  const nodes = refusals.map((_, i) => {
    const made = ports(pool, [one], { crm: crm.destination });
    const takeBudget: typeof made.store.takeBudget = async (...asked) => {
      const budget = await made.store.takeBudget(...asked);
      if (asked[1] > 0 && budget.granted === 0) refusals[i] = (refusals[i] ?? 0) + 1;
      return budget;
    };
    return startNode({ ...made, store: { ...made.store, takeBudget } });
  });
  await until('every node is refused', async () => refusals.every((count) => count > 0));
  await until('the burst is sent', async () => crm.calls.length >= 6);
  await Promise.all(nodes.map((node) => node.stop()));
  assert.equal(crm.calls.length, 6);
  // Two hours later two more calls are allowed.
  await pool.query(`update remotes set next_at = next_at - interval '2 hours'`);
  await drainOnce(ports(pool, [one], { crm: crm.destination }));
  assert.equal(crm.calls.length, 8);
});

test('requests count for the rate, not calls', async (t) => {
  const { pool } = await setUp(t, 0);
  const two = (i: number) => [`a${i}@guests.example`, `b${i}@guests.example`].map((email) => ({ email }));
  const bookings = Array.from({ length: 10 }, (_, i) => reservation(`g${i}`, { guests: two(i) }));
  await takeIn(pool, bookings, ['crm']);
  const server = await listen(() => ({ status: 200 }));
  const rate = { everyMs: 3_600_000, burst: 7 };
  const offered = { ...services('/'), rate, takeRequest: takeRequest.bind(undefined, pool, 'crm') };
  t.after(async () => {
    await server.close();
    await offered.close();
  });
  const settings = http.settings.parse({ url: server.url, each: 'guest', body: { mail: '{guest.email}' } });
  const one = lane(config('crm', { batch: 1, concurrency: 1, rate }));
  const counts = await drainOnce(ports(pool, [one], { crm: http.open(settings, offered) }));
  assert.equal(server.received.length, 7);
  assert.deepEqual([counts.delivered, counts.dead], [3, 0]);
});

test('a node whose wall clock is set back keeps delivering', async (t) => {
  const { pool } = await setUp(t, 4);
  let aheadMs = 10 * 3_600_000;
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };
  const crm = scripted(() => delivered);
  const one = lane(config('crm', { batch: 1, concurrency: 1, rate: { everyMs: 1_000, burst: 1 } }));
  const made = ports(pool, [one], { crm: crm.destination }, { clock });
  // Set back by an hour right after each pause of the rate was decided: a pause by the wall clock would now last an hour.
  const takeBudget: typeof made.store.takeBudget = async (...asked) => {
    const budget = await made.store.takeBudget(...asked);
    if (budget.waitMs > 0) setImmediate(() => (aheadMs -= 3_600_000));
    return budget;
  };
  startNode({ ...made, store: { ...made.store, takeBudget } });
  await until('all are delivered', async () => crm.calls.length === 4);
  assert.ok(aheadMs < 10 * 3_600_000);
});

test('an incomplete batch waits for more, a full one is sent at once', async (t) => {
  const { pool } = await setUp(t, 3);
  const crm = scripted(() => delivered);
  const one = lane(config('crm', { batch: 10, batchWaitMs: 3_600_000 }));
  // The test makes records due in the past, which only a full scan finds.
  const { passes, ...made } = countingPasses(ports(pool, [one], { crm: crm.destination }, { fullScanMs: 100 }));
  startNode(made);
  await passes(3);
  assert.equal(crm.calls.length, 0);
  const more = Array.from({ length: 7 }, (_, i) => reservation(`f${i}`));
  await takeIn(pool, more, ['crm']);
  await until('the full batch is sent', async () => crm.calls.length === 1);
  assert.equal(crm.calls[0]?.length, 10);
  await takeIn(pool, [reservation('late')], ['crm']);
  await passes(3);
  assert.equal(crm.calls.length, 1);
  await pool.query(`update outbox set due_at = due_at - interval '1 hour' where due_at is not null`);
  await until('the incomplete batch is sent', async () => crm.calls.length === 2);
  assert.equal(crm.calls[1]?.length, 1);
});

test('versions that have waited long enough follow each other at once, whatever batch.wait says', async (t) => {
  const { pool } = await setUp(t, 1);
  for (let i = 2; i <= 6; i++) await takeIn(pool, [reservation('r0', { total_amount: String(i) })], ['crm']);
  await pool.query(`update history set at = at - interval '2 hours'`);
  await pool.query(`update outbox set due_at = due_at - interval '2 hours'`);
  const crm = scripted(() => delivered);
  const one = lane(config('crm', { batch: 10, batchWaitMs: 3_600_000 }));
  startNode(ports(pool, [one], { crm: crm.destination }));
  await until('all versions are delivered', async () => crm.messages().length === 6);
});

test('a destination that cannot be opened uses no tries, and continues once it can', async (t) => {
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

test('a paused destination gets nothing; a changed document opens it again', async (t) => {
  const { pool } = await setUp(t, 1);
  const first = scripted(() => delivered);
  const second = scripted(() => delivered);
  let current = config('crm', { paused: true });
  const opened: string[] = [];
  const { passes, ...made } = countingPasses(
    ports(
      pool,
      [],
      {},
      {
        lanes: () => listedLanes([lane(current)]),
        open: async ({ revision }) => {
          opened.push(revision);
          return revision === '1' ? first.destination : second.destination;
        },
      },
    ),
  );
  startNode(made);
  await passes(3);
  assert.deepEqual(opened, []);
  current = config('crm', { revision: '1' });
  await until('the first is called', async () => first.calls.length === 1);
  current = config('crm', { revision: '2' });
  await passes(2);
  await takeIn(pool, [reservation('r0', { total_amount: '2' })], ['crm']);
  await until('the second is called', async () => second.calls.length === 1);
  assert.deepEqual([opened, first.calls.length], [['1', '2'], 1]);
});

test('a document that reaches two nodes at different times, during calls, keeps the order and duplicates nothing', async (t) => {
  const { pool } = await setUp(t, 20);
  const told: { id: string; version: number; revision: string }[] = [];
  const revisions = ['1', '1'];
  const nodes = [0, 1].map((node) =>
    startNode(
      ports(
        pool,
        [],
        {},
        {
          lanes: () =>
            listedLanes([lane(config('crm', { revision: revisions[node] ?? '', batch: 2, concurrency: 2 }))]),
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
  const everything = Array.from({ length: 20 }, (_, i) => `r${i}`);
  let changes = 1;
  const change = () => {
    changes += 1;
    const records = everything.map((id) => reservation(id, { total_amount: String(changes) }));
    return takeIn(pool, records, ['crm']);
  };
  await until('calls are under way', async () => told.length > 3);
  revisions[0] = '2';
  await until('the new document is used', async () => {
    await change();
    return told.some(({ revision }) => revision === '2');
  });
  revisions[1] = '2';
  await change();
  await until('everything is delivered', async () => told.length >= 20 * changes);
  await Promise.all(nodes.map((node) => node.stop()));
  const expected = Array.from({ length: changes }, (_, i) => i + 1);
  for (const id of everything) {
    const versions = told.filter((one) => one.id === id).map(({ version }) => version);
    assert.deepEqual(versions, expected, id);
  }
});

test('a removed destination keeps its queue and continues when it is back', async (t) => {
  const { pool } = await setUp(t, 3);
  const crm = scripted(() => delivered);
  const other = scripted(() => delivered);
  let lanes = [lane(config('other'))];
  const open = async ({ name }: { name: string }) => (name === 'crm' ? crm : other).destination;
  for (const _ of ['one node', 'another']) startNode(ports(pool, [], {}, { lanes: () => listedLanes(lanes), open }));
  await takeIn(pool, [reservation('r0', { total_amount: '2' })], ['crm', 'other']);
  await until('the other is served', async () => other.messages().length === 1);
  assert.deepEqual(crm.calls, []);
  lanes = [lane(config('crm', { revision: '2' })), ...lanes];
  await until('its work goes on', async () => crm.messages().length === 4);
  const told = crm.messages().filter(({ data }) => data.id === 'r0');
  assert.deepEqual(
    told.map(({ version }) => version),
    [1, 2],
  );
});

test('a record that fails its whole batch is found on the second try; a destination that is down is not hammered', async (t) => {
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

/** `passes` waits for that many scans for due work. It wakes the node, which would otherwise scan once a second. */
function countingPasses(made: ReturnType<typeof ports>) {
  let count = 0;
  return {
    ...made,
    lanes: () => {
      count += 1;
      return made.lanes();
    },
    async passes(more: number): Promise<void> {
      const enough = count + more;
      await until(`${more} more passes`, async () => {
        made.wake.signal('outbox');
        return count >= enough;
      });
    },
  };
}
