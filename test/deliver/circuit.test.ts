import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { healthOf } from '../../src/core/deliver/batch.ts';
import type { Outcome } from '../../src/core/deliver/destination.ts';
import type { Delivery } from '../../src/core/deliver/message.ts';
import { until } from '../support/process.ts';
import { config, lane, openStore, ports, reservation, scripted, startNode, takeIn } from './support.ts';

const delivered: Outcome = { kind: 'delivered' };
const failed: Outcome = { kind: 'retry', code: 'deliver.server_error', message: '503', status: 503 };
const circuit = { failuresToOpen: 5, firstMs: 20, mostMs: 100 };

async function setUp(
  t: TestContext,
  ids: readonly string[],
  answer: (one: Delivery) => Outcome | Promise<Outcome>,
  nodes = 1,
) {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(answer);
  const made: ReturnType<typeof ports>[] = [];
  const all = async (some: readonly string[]) => {
    await takeIn(
      pool,
      some.map((id) => reservation(id)),
      ['crm'],
    );
    for (const { wake } of made) wake.signal('outbox');
  };
  await all(ids);
  const one = lane(config('crm', { batch: 1, concurrency: 2, scheduleMs: [1, 1, 1, 1] }));
  for (let i = 0; i < nodes; i++) {
    made.push(ports(pool, [one], { crm: crm.destination }, { node: `node ${i}`, circuit }));
  }
  for (const node of made) startNode(node);
  const read = async (sql: string) => (await pool.query(sql)).rows[0];
  return {
    pool,
    crm,
    takeIn: all,
    probes: async (): Promise<number> =>
      (await read(`select probes from remotes where state <> 'closed'`))?.probes ?? 0,
    dead: async (): Promise<number> => (await read('select count(*)::int as n from dead_letters')).n,
    waiting: async (): Promise<number> =>
      (await read('select count(*)::int as n from outbox where due_at is not null')).n,
  };
}

test('an outage longer than the retry schedule uses up no tries: work waits and resumes by itself', async (t) => {
  let away = true;
  let inCall = 0;
  let most = 0;
  const mayHaveArrived = new Map<string, boolean[]>();
  const ids = Array.from({ length: 40 }, (_, i) => `r${i}`);
  const { pool, crm, probes, dead, waiting } = await setUp(
    t,
    ids,
    async ({ message, mayHaveArrived: may }) => {
      mayHaveArrived.set(message.data.id, [...(mayHaveArrived.get(message.data.id) ?? []), may]);
      inCall += 1;
      if (opened) most = Math.max(most, inCall);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inCall -= 1;
      return away ? failed : delivered;
    },
    2,
  );
  let opened = false;
  // Calls from before it opened have ended by the second probe.
  await until('the circuit opens and is probed', async () => (await probes()) >= 2 && inCall === 0);
  opened = true;
  const before = { calls: crm.calls.length, probes: await probes() };
  await until('it is probed again and again', async () => (await probes()) >= before.probes + 4);
  // One probe at a time over both nodes, with one record.
  assert.equal(most, 1);
  assert.ok(crm.calls.length - before.calls <= (await probes()) - before.probes + 1);
  assert.equal(await dead(), 0);
  const { rows } = await pool.query('select max(attempt) as most from outbox');
  assert.ok(rows[0].most <= 1, `${rows[0].most} tries used`);
  away = false;
  opened = false;
  await until('everything is delivered', async () => (await waiting()) === 0);
  assert.equal(await dead(), 0);
  assert.equal(crm.messages().filter(({ version }) => version === 1).length >= 40, true);
  assert.equal((await pool.query('select from remotes where failures > 0')).rowCount, 0);
  // A failed call may have arrived, whether or not it used a try.
  for (const [id, seen] of mayHaveArrived) assert.deepEqual(seen, [false, ...seen.slice(1).map(() => true)], id);
});

const cut: Outcome = { kind: 'retry', code: 'deliver.unreachable', message: 'ECONNRESET', mayHaveArrived: true };

test('a destination that cannot be reached uses no try, not even the first', async (t) => {
  const { pool, probes } = await setUp(
    t,
    Array.from({ length: 10 }, (_, i) => `r${i}`),
    () => cut,
  );
  await until('it is probed again and again', async () => (await probes()) >= 4);
  assert.deepEqual((await pool.query('select max(attempt) as most from outbox')).rows, [{ most: 0 }]);
});

test('a record at which the connection breaks each time, while others pass, uses its tries up', async (t) => {
  const {
    takeIn: more,
    dead,
    pool,
  } = await setUp(t, ['bad'], ({ message }) => (message.data.id === 'bad' ? cut : delivered));
  let others = 0;
  await until('it is a dead letter', async () => {
    await more([`good ${++others}`]);
    return (await dead()) === 1;
  });
  assert.deepEqual((await pool.query('select id from dead_letters')).rows, [{ id: 'bad' }]);
});

test('bad records alone open the circuit, and others still get through the probes', async (t) => {
  const {
    crm,
    takeIn: more,
    probes,
    dead,
    waiting,
  } = await setUp(t, ['bad 1', 'bad 2'], ({ message }) => (message.data.id.startsWith('bad') ? failed : delivered));
  await until('the circuit opens', async () => (await probes()) >= 1);
  assert.equal(await dead(), 0);
  for (let i = 0; (await dead()) < 2; i++) {
    assert.ok(i < 60, 'they fail while others pass, so their tries count');
    await more([`r${i}`]);
    await until(`r${i} is delivered`, async () => crm.messages().some(({ data }) => data.id === `r${i}`));
  }
  await until('nothing waits', async () => (await waiting()) === 0);
});

test('a single record that fails alone uses its tries; one that cannot be sent at all does not', async (t) => {
  const alone = await setUp(t, ['bad'], () => failed);
  await until('it is a dead letter', async () => (await alone.dead()) === 1);
  assert.equal(alone.crm.calls.length, 5);
  const away: Outcome = { kind: 'retry', code: 'deliver.unreachable', message: 'ECONNREFUSED' };
  const unreachable = await setUp(t, ['fine'], () => away);
  await until('it is probed', async () => (await unreachable.probes()) >= 3);
  assert.equal(await unreachable.dead(), 0);
});

test('a refusal closes the circuit: the destination answers', async (t) => {
  let refuses = false;
  const { pool, probes, dead } = await setUp(t, ['a', 'b', 'c'], () =>
    refuses ? { kind: 'dead', code: 'deliver.refused', message: '400', status: 400 } : failed,
  );
  await until('the circuit opens', async () => (await probes()) >= 1);
  refuses = true;
  await until('all are refused', async () => (await dead()) === 3);
  assert.equal((await pool.query('select from remotes where failures > 0')).rowCount, 0);
});

test('a call that was not made because its lease ended says nothing about the destination', () => {
  const expired: Outcome = { kind: 'retry', code: 'deliver.lease_expired', message: 'Not sent.', free: true };
  assert.equal(healthOf([{ record: 'a', outcome: expired }]), undefined);
  const mixed = healthOf([
    { record: 'a', outcome: failed },
    { record: 'b', outcome: expired },
  ]);
  assert.equal(mixed?.kind, 'failed');
});

const keyRefused = (status: number): Outcome => ({
  kind: 'retry',
  code: 'deliver.auth_failed',
  message: `The destination answered ${status}.`,
  status,
});

test('a refused key makes deliveries wait: no dead letter, one probe at a time, and all of it goes out with the right key', async (t) => {
  for (const status of [401, 403]) {
    let refuses = true;
    const ids = Array.from({ length: 30 }, (_, i) => `r${i}`);
    const { pool, crm, probes, dead, waiting } = await setUp(t, ids, () => (refuses ? keyRefused(status) : delivered));
    await until('it is probed', async () => (await probes()) >= 3);
    const { rows } = await pool.query('select refused, away, opened_at from remotes');
    assert.deepEqual([rows[0].refused, rows[0].away], [true, true], `${status}`);
    assert.ok(rows[0].opened_at instanceof Date);
    assert.ok(crm.calls.length <= 4 + (await probes()), 'what refuses the key is not asked once per booking');
    assert.equal(await dead(), 0);
    refuses = false;
    await until('everything is delivered', async () => (await waiting()) === 0);
    assert.equal(await dead(), 0);
  }
});

test('one record that alone is answered with 403 becomes a dead letter, and the others are delivered', async (t) => {
  const { dead, waiting } = await setUp(t, ['r0', 'bad', 'r1'], ({ message }) =>
    message.data.id === 'bad' ? keyRefused(403) : delivered,
  );
  await until('nothing else waits', async () => (await waiting()) === 0 && (await dead()) === 1);
});
