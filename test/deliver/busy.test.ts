import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { waitRequestOf } from '../../src/core/deliver/batch.ts';
import type { Outcome } from '../../src/core/deliver/destination.ts';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import type { Pool } from '../../src/core/store/db/pool.ts';
import { until } from '../support/process.ts';
import { listen, type Received, type Reply } from './http-server.ts';
import { config, delivery, lane, openStore, ports, reservation, services, startNode, takeIn } from './support.ts';

const ok: Reply = { status: 200 };
const wait = (seconds: number): Reply => ({ status: 429, headers: { 'retry-after': String(seconds) } });
const idOf = ({ body }: Received): string => (body as { data: { id: string } }).data.id;

/** Nodes with one store that send to one server, which records the requests. */
async function setUp(t: TestContext, records: number, answer: (id: string, nth: number) => Reply) {
  const { pool, close } = await openStore();
  const asked: string[] = [];
  const server = await listen((request) => {
    asked.push(idOf(request));
    return answer(idOf(request), asked.length);
  });
  const offered = services('/');
  const ids = Array.from({ length: records }, (_, i) => `r${i}`);
  await takeIn(
    pool,
    ids.map((id) => reservation(id)),
    ['crm'],
  );
  const start = (nodes: number) => {
    const one = lane(config('crm', { batch: 1, concurrency: 1 }));
    for (let i = 0; i < nodes; i++) {
      const destination = http.open(http.settings.parse({ url: server.url }), offered);
      startNode(ports(pool, [one], { crm: destination }, { node: `node ${i}` }));
    }
  };
  t.after(async () => {
    await close();
    await server.close();
    await offered.close();
  });
  return { pool, asked, start };
}

const delivered = (pool: Pool, records: number) => async (): Promise<boolean> => {
  const { rows } = await pool.query(`select count(*)::int as n from outbox where delivered_version > 0`);
  return rows[0].n === records;
};

/** Undefined if the destination was never paused. */
async function pausedForMs(pool: Pool): Promise<number | undefined> {
  const { rows } = await pool.query<{ ms: number | null }>(
    'select (extract(epoch from paused_until - clock_timestamp()) * 1000)::float8 as ms from remotes',
  );
  return rows[0]?.ms ?? undefined;
}

/** A used try would raise the count. */
async function noTryUsed(pool: Pool): Promise<void> {
  const { rows } = await pool.query('select max(attempt) as most from attempts');
  assert.deepEqual(rows, [{ most: 1 }]);
}

test('a record that is asked to wait waits alone: others flow past it, on every node', async (t) => {
  const { pool, asked, start } = await setUp(t, 20, (id) => (id === 'r7' ? wait(60) : ok));
  start(2);
  await until('the others arrive', delivered(pool, 19));
  assert.equal(asked.filter((id) => id === 'r7').length, 1);
  const { rows } = await pool.query(
    `select id, attempt, due_at > now() + interval '30 seconds' as waits from outbox where due_at is not null`,
  );
  assert.deepEqual(rows, [{ id: 'r7', attempt: 0, waits: true }]);
  assert.equal(await pausedForMs(pool), undefined);
});

test('a second record that is asked to wait, with no success in between, pauses the destination on every node', async (t) => {
  let busy = true;
  const { pool, asked, start } = await setUp(t, 20, () => (busy ? wait(3) : ok));
  start(2);
  await until('the silence', async () => (await pausedForMs(pool)) !== undefined);
  const before = asked.length;
  const during = await until('its last second', async () => {
    const count = asked.length;
    return ((await pausedForMs(pool)) ?? 0) < 1_000 && count;
  });
  assert.ok(before >= 2);
  // Each of the two nodes may have started one call before it knew of the pause.
  assert.ok(during <= before + 2, `${during - before} requests to a paused destination`);
  busy = false;
  await until('all arrive', delivered(pool, 20));
  await noTryUsed(pool);
});

test('a success in between prevents the pause', async (t) => {
  const told = new Set<string>();
  const { pool, start } = await setUp(t, 12, (id, nth) => {
    if (nth % 2 === 0 || told.has(id)) return ok;
    told.add(id);
    return wait(1);
  });
  start(1);
  await until('all arrive', delivered(pool, 12));
  assert.ok(told.size >= 2);
  assert.equal(await pausedForMs(pool), undefined);
  await noTryUsed(pool);
});

test('a record that is asked to wait repeatedly delays only itself', async (t) => {
  let told = 0;
  const { pool, start } = await setUp(t, 1, () => (++told <= 3 ? wait(1) : ok));
  start(2);
  await until('it arrives', delivered(pool, 1));
  assert.equal(told, 4);
  assert.equal(await pausedForMs(pool), undefined);
  await noTryUsed(pool);
});

const taken: Outcome = { kind: 'delivered' };
const later = (more: object = {}): Outcome =>
  ({ kind: 'retry', code: 'deliver.rate_limited', message: '429', afterMs: 3_000, free: true, ...more }) as Outcome;
const of = (...outcomes: Outcome[]) => waitRequestOf(outcomes.map((outcome, i) => ({ record: `r${i}`, outcome })));

test('one answer to a whole batch counts once; a success clears earlier wait requests', () => {
  assert.deepEqual(of(later({ whole: true }), later({ whole: true })), {
    records: ['r0', 'r1'],
    severalAnswers: false,
    waitMs: 3_000,
  });
  assert.deepEqual(of(later(), later({ afterMs: 9_000 })), {
    records: ['r0', 'r1'],
    severalAnswers: true,
    waitMs: 9_000,
  });
  assert.deepEqual(of(later(), taken, later()), { records: ['r2'], severalAnswers: false, waitMs: 3_000 });
  assert.equal(of(later(), taken), undefined);
  assert.equal(of({ kind: 'retry', code: 'deliver.server_error', message: '503', afterMs: 3_000 }), undefined);
});

test('http: after two records were asked to wait, the rest of the call is not sent', async (t) => {
  const server = await listen(() => wait(5));
  const offered = services('/');
  t.after(async () => {
    await server.close();
    await offered.close();
  });
  const settings = { url: server.url, on: { erased: { method: 'DELETE' } } };
  const destination = http.open(http.settings.parse(settings), offered);
  const batch = ['a', 'b', 'c', 'd'].map((id) => delivery(reservation(id), { event: 'erased' }));
  const limits = {
    batch: 10,
    deadlineMs: 30_000,
    leaseLeftMs: () => 60_000,
    extend: async () => true,
    signal: new AbortController().signal,
  };
  const outcomes = await destination.deliver(batch, limits);
  assert.equal(server.received.length, 2);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.kind === 'retry' && [outcome.free, outcome.afterMs, outcome.status]),
    [
      [true, 5_000, 429],
      [true, 5_000, 429],
      [true, 5_000, undefined],
      [true, 5_000, undefined],
    ],
  );
});
