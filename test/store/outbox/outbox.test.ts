import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Claimed, Settlement } from '../../../src/core/deliver/ports.ts';
import { resendStep } from '../../../src/core/store/outbox/resend.ts';
import { outboxStore } from '../../../src/core/store/outbox/settle.ts';
import { openStore, reservation, takeIn } from '../../deliver/support.ts';
import { until } from '../../support/process.ts';

const lane = { integration: 'lisbon', destination: 'crm' };

async function setUp(t: TestContext) {
  const { pool, close } = await openStore();
  t.after(close);
  return { pool, store: outboxStore(pool) };
}

const settlement = (claim: Claimed | undefined, result: Settlement['result'] = { kind: 'delivered' }): Settlement => ({
  ...lane,
  type: claim?.type ?? 'reservation',
  id: claim?.id ?? '',
  version: claim?.version ?? 0,
  fence: claim?.fence ?? -1,
  attempt: 1,
  result,
});

test('a claim is a lease: no other node gets the record until it ends', async (t) => {
  const { pool, store } = await setUp(t);
  await takeIn(pool, [reservation('r')], ['crm']);
  const [first] = await store.claim(lane.destination, [lane.integration], 10, 60_000);
  assert.equal(first?.version, 1);
  assert.equal(first?.interrupted, false);
  assert.deepEqual(await store.claim(lane.destination, [lane.integration], 10, 60_000), []);
  const [waits] = await store.nextDue([lane]);
  assert.ok((waits?.dueInMs ?? 0) > 50_000);
  await pool.query('update outbox set due_at = now()');
  const [second] = await store.claim(lane.destination, [lane.integration], 10, 60_000);
  assert.equal(second?.interrupted, true);
  // The first node continues too late: its settlement has no effect.
  await store.settle([settlement(first)], 'first');
  assert.equal(await store.extend(lane, first ? [first] : [], 60_000), 0);
  assert.equal(await store.extend(lane, second ? [second] : [], 60_000), 1);
  await store.settle([settlement(second)], 'second');
  const { rows } = await pool.query('select delivered_version from outbox');
  assert.deepEqual(rows, [{ delivered_version: 1 }]);
  assert.deepEqual(await store.nextDue([lane]), []);
});

test('a scan and a claim with bounds leave out older records', async (t) => {
  const { pool, store } = await setUp(t);
  await takeIn(pool, [reservation('old'), reservation('new')], ['crm']);
  await pool.query(`update outbox set due_at = now() - interval '1 minute' where id = 'old'`);
  const bounds = { sinceMs: 10_000, withinMs: 1_000 };
  const [bounded] = await store.nextDue([lane], bounds);
  assert.ok((bounded?.firstDueInMs ?? -Infinity) > -10_000, 'the old record is left out');
  const [all] = await store.nextDue([lane]);
  assert.ok((all?.firstDueInMs ?? 0) < -50_000);

  const claimed = await store.claim(lane.destination, [lane.integration], 10, 60_000, { sinceMs: 10_000 });
  assert.deepEqual(
    claimed.map(({ id }) => id),
    ['new'],
  );
  await pool.query(
    `insert into remotes (kind, name, paused_until) values ('destination', 'crm', now() + interval '1 hour')`,
  );
  const [paused] = await store.nextDue([lane]);
  assert.ok((paused?.dueInMs ?? 0) > 0 && (paused?.firstDueInMs ?? 0) < -50_000, 'due, and paused');
});

test('a version that arrives while the result is being written is not lost', async (t) => {
  const { pool, store } = await setUp(t);
  await takeIn(pool, [reservation('r')], ['crm']);
  const [claim] = await store.claim(lane.destination, [lane.integration], 10, 60_000);
  const intake = await pool.connect();
  await intake.query('begin');
  await intake.query('update outbox set last_version = 2');
  const settling = store.settle([settlement(claim)], 'node');
  await untilBlocked(pool);
  await intake.query('commit');
  intake.release();
  assert.deepEqual(await settling, [lane]);
  const { rows } = await pool.query('select next_version, last_version, leased, due_at <= now() as due from outbox');
  assert.deepEqual(rows, [{ next_version: 2, last_version: 2, leased: false, due: true }]);
});

test('a dead record stays held, whatever arrives behind it', async (t) => {
  const { pool, store } = await setUp(t);
  await takeIn(pool, [reservation('r')], ['crm']);
  const [claim] = await store.claim(lane.destination, [lane.integration], 10, 60_000);
  await store.settle(
    [{ ...settlement(claim, { kind: 'dead' }), code: 'deliver.refused', message: 'no', answer: '{}' }],
    'n',
  );
  await takeIn(pool, [reservation('r', { total_amount: '2' })], ['crm']);
  assert.deepEqual(await store.nextDue([lane]), []);
  const { rows } = await pool.query('select next_version, last_version, held_by is not null as held from outbox');
  assert.deepEqual(rows, [{ next_version: 1, last_version: 2, held: true }]);
});

test('the budget of a destination is one for all nodes', async (t) => {
  const { store } = await setUp(t);
  const rate = { everyMs: 100_000, burst: 5 };
  const asked = await Promise.all(Array.from({ length: 8 }, () => store.takeBudget('crm', 1, rate)));
  assert.equal(
    asked.reduce((sum, { granted }) => sum + granted, 0),
    5,
  );
  const refused = asked.filter(({ granted }) => granted === 0);
  assert.ok(refused.every(({ waitMs }) => waitMs > 0 && waitMs <= 100_000));
  await store.takeBudget('crm', -2, rate);
  assert.equal((await store.takeBudget('crm', 9, rate)).granted, 2);
});

test('a busy destination pauses all its lanes; a single wait request pauses only its record', async (t) => {
  const { pool, store } = await setUp(t);
  await takeIn(pool, [reservation('r')], ['crm', 'other']);
  const told = (record: string) => ({ records: [record], severalAnswers: false, waitMs: 30_000 });
  await store.noteWaitRequest('crm', told('lisbon reservation x'));
  await store.noteWaitRequest('crm', told('lisbon reservation x'));
  assert.ok(((await store.nextDue([lane]))[0]?.dueInMs ?? 1) <= 0);
  await store.noteWaitRequest('crm', told('lisbon reservation y'));
  assert.deepEqual(await store.claim(lane.destination, [lane.integration], 10, 60_000), []);
  const due = await store.nextDue([lane, { ...lane, destination: 'other' }]);
  const of = (name: string) => due.find(({ destination }) => destination === name)?.dueInMs ?? Number.NaN;
  assert.ok(of('crm') > 20_000);
  assert.ok(of('other') <= 0);
});

test('a destination that is new or lost its data gets the newest versions again, under their keys', async (t) => {
  const { pool, store } = await setUp(t);
  await takeIn(pool, [reservation('a'), reservation('b'), reservation('held')], ['crm']);
  await takeIn(pool, [reservation('a', { total_amount: '2' })], ['crm']);
  for (let round = 0; round < 2; round++) {
    const claims = await store.claim(lane.destination, [lane.integration], 10, 60_000);
    const result = (id: string) => ({ kind: id === 'held' ? ('dead' as const) : ('delivered' as const) });
    await store.settle(
      claims.map((claim) => settlement(claim, result(claim.id))),
      'n',
    );
  }
  assert.deepEqual(await store.claim(lane.destination, [lane.integration], 10, 60_000), []);
  const resend = (destination: string) =>
    resendStep(pool, { integration: 'lisbon', destination, type: 'reservation' }, '');
  assert.deepEqual(await resend('crm'), { read: 3, queued: 2, last: undefined });
  const again = await store.claim(lane.destination, [lane.integration], 10, 60_000);
  assert.deepEqual(again.map(({ id, version }) => [id, version]).sort(), [
    ['a', 2],
    ['b', 1],
  ]);
  assert.deepEqual(await resend('lake'), { read: 3, queued: 3, last: undefined });
  const keys = await pool.query(`select count(distinct idempotency_key)::int as n from history where diff is not null`);
  assert.deepEqual(keys.rows, [{ n: 4 }]);
});

async function untilBlocked(pool: { query(sql: string): Promise<{ rows: { n: number }[] }> }): Promise<void> {
  await until('a statement waits for a lock', async () => {
    const { rows } = await pool.query(
      `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return (rows[0]?.n ?? 0) > 0;
  });
}

test('among many lanes, only those with waiting work are found, with the same answer as one by one', async (t) => {
  const { pool, store } = await setUp(t);
  await pool.query(
    `insert into outbox (integration, destination, type, id, next_version, last_version, due_at)
     select 'brand-' || n, d, 'reservation', 'r' || m, 1, case when n % 50 = 0 then 1 else 0 end,
            case when n % 50 = 0 then now() + (n + m) * interval '1 second' end
       from generate_series(1, 200) n, generate_series(0, 2) m, unnest(array['crm', 'warehouse']) d`,
  );
  await pool.query(
    `insert into remotes (kind, name, paused_until) values ('destination', 'crm', now() + interval '1 hour')`,
  );
  const lanes = Array.from({ length: 200 }, (_, i) =>
    ['crm', 'warehouse'].map((destination) => ({ integration: `brand-${i + 1}`, destination })),
  ).flat();
  const many = await store.nextDueOfAll();
  assert.deepEqual(
    many.map(({ integration, destination }) => `${integration} ${destination}`).sort(),
    [100, 150, 200, 50].flatMap((n) => [`brand-${n} crm`, `brand-${n} warehouse`]),
  );
  const few = await store.nextDue(lanes);
  assert.equal(few.length, many.length);
  for (const one of few) {
    const same = many.find((lane) => lane.integration === one.integration && lane.destination === one.destination);
    assert.ok(Math.abs((same?.dueInMs ?? 0) - one.dueInMs) < 5_000, `${one.integration} ${one.destination}`);
  }
  const named = async (bounds: Parameters<typeof store.nextDueOfAll>[0]) =>
    (await store.nextDueOfAll(bounds)).map(({ integration, destination }) => `${integration} ${destination}`);
  assert.deepEqual(
    await named({ withinMs: 60_000 }),
    ['brand-50 crm', 'brand-50 warehouse'],
    'the others are due later',
  );
  await pool.query(`update outbox set due_at = now() - interval '1 minute' where due_at is not null and id <> 'r2'`);
  assert.deepEqual(await named({ withinMs: 60_000, sinceMs: 10_000 }), ['brand-50 crm', 'brand-50 warehouse']);
  assert.equal((await named({ withinMs: 60_000 })).length, many.length);
});
