import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation } from '../../../src/core/canonical/reservation.ts';
import { migrate } from '../../../src/core/store/db/migrate.ts';
import { dropPartitions, makePartitions, partitions } from '../../../src/core/store/db/partitions.ts';
import { openPool, type Pool, transaction } from '../../../src/core/store/db/pool.ts';
import { resendStep } from '../../../src/core/store/outbox/resend.ts';
import { outboxStore } from '../../../src/core/store/outbox/settle.ts';
import { ingest } from '../../../src/core/store/records/ingest.ts';
import { timelineOf } from '../../../src/operator/operations/timeline.ts';
import { said, testBrand } from '../../support/brand.ts';
import { testDatabase } from '../../support/database.ts';

const day = 86_400_000;
/** A retention that ends a minute after the first partition: what is in it is past, and nothing else on any day of a month. */
async function dropFirst(pool: Pool): Promise<number> {
  const end = (await partitions(pool))[0]?.to.getTime() ?? assert.fail('no partition');
  return dropPartitions(pool, Date.now() - end - 60_000);
}

async function withStore(work: (pool: Pool) => Promise<void>): Promise<void> {
  const { connection } = await testDatabase({ empty: true });
  const pool = openPool({ connection, applicationName: 'test' });
  try {
    await migrate(pool);
    await work(pool);
  } finally {
    await pool.end();
  }
}

const brand = testBrand('lisbon', { reservation: ['crm'] });

function takeIn(pool: Pool, id: string, amount: string): Promise<unknown> {
  const record: Reservation = {
    id,
    check_in: '2026-03-01',
    check_out: '2026-03-04',
    status: 'confirmed',
    total_amount: amount,
    guests: [],
    rooms: [],
    charges: [],
  };
  const arrival = { mode: 'pull', effectiveAt: 1_000 + Number(amount), cause: 'run', causeId: 'run_1' } as const;
  return transaction(pool, (tx) => ingest(tx, brand, [said(record, arrival)]));
}

const count = async (pool: Pool, sql: string): Promise<number> =>
  (await pool.query<{ n: number }>(`select count(*)::int as n from ${sql}`)).rows[0]?.n ?? -1;

const lane = { integration: 'lisbon', destination: 'crm' };

async function deliverAll(pool: Pool) {
  const store = outboxStore(pool);
  const sent: { id: string; version: number; event?: string; key?: string }[] = [];
  for (;;) {
    const claims = await store.claim(lane.destination, [lane.integration], 100, 60_000);
    if (claims.length === 0) return sent;
    for (const { id, version, change } of claims) {
      sent.push({ id, version, ...(change && { event: change.event, key: change.idempotencyKey }) });
    }
    const settlements = claims.map((claim) => ({
      ...lane,
      ...claim,
      attempt: 1,
      result: { kind: 'delivered' } as const,
    }));
    await store.settle(settlements, 'node');
  }
}

test('partitions cover the present month and the two after it', () =>
  withStore(async (pool) => {
    const parts = await partitions(pool);
    const ahead = (parts.at(-1)?.to.getTime() ?? 0) - Date.now();
    assert.ok(ahead > 58 * day, `the history ends ${ahead / day} days ahead`);
    parts.slice(1).forEach((part, i) => {
      assert.deepEqual(part.from, parts[i]?.to, `${part.name} begins where the one before ends`);
    });
    assert.equal(await makePartitions(pool), 0, 'a second call makes none');
  }));

test('a row that was written before its partition existed moves into it', () =>
  withStore(async (pool) => {
    const newest = (await partitions(pool)).at(-1);
    assert.ok(newest?.from);
    await pool.query(`drop table ${newest.name}`);
    await takeIn(pool, 'EARLY', '1');
    await pool.query('update history set at = $1', [newest.from]);
    assert.equal(await count(pool, 'history_kept'), 1);
    assert.equal(await makePartitions(pool), 1);
    assert.equal(await count(pool, 'history_kept'), 0);
    assert.equal(await count(pool, newest.name), 1);
  }));

test('retention drops partitions; versions that wait for their destination stay and are delivered', () =>
  withStore(async (pool) => {
    await takeIn(pool, 'DELIVERED', '1');
    await takeIn(pool, 'DELIVERED', '2');
    await deliverAll(pool);
    await takeIn(pool, 'WAITS', '1');
    await takeIn(pool, 'WAITS', '2');
    const before = await count(pool, 'history');
    assert.equal(before, 4);

    assert.equal(await dropPartitions(pool, 400 * day), 0, 'nothing is old enough');
    assert.equal(await dropFirst(pool), 1);
    const { rows } = await pool.query('select id, version from history order by 1, 2');
    assert.deepEqual(rows, [
      { id: 'WAITS', version: 1 },
      { id: 'WAITS', version: 2 },
    ]);

    const sent = await deliverAll(pool);
    assert.deepEqual(
      sent.map(({ id, version, event }) => [id, version, event]),
      [
        ['WAITS', 1, 'created'],
        ['WAITS', 2, 'updated'],
      ],
    );
    await dropFirst(pool);
    assert.equal(await count(pool, 'history'), 0, 'delivered work is not kept any longer');
  }));

test('the newest version is sent again after its history is gone, with its original key', () =>
  withStore(async (pool) => {
    await takeIn(pool, 'A', '1');
    await takeIn(pool, 'A', '2');
    const first = await deliverAll(pool);
    await dropFirst(pool);
    const lane = { integration: 'lisbon', destination: 'crm', type: 'reservation' } as const;
    assert.equal((await resendStep(pool, lane, '')).queued, 1);
    assert.deepEqual(await deliverAll(pool), [first[1]]);
    await takeIn(pool, 'A', '3');
    assert.deepEqual(
      (await deliverAll(pool)).map(({ version, event }) => [version, event]),
      [[3, 'updated']],
    );
  }));

test('a timeline says since when it is complete', () =>
  withStore(async (pool) => {
    await takeIn(pool, 'A', '1');
    await takeIn(pool, 'A', '2');
    await deliverAll(pool);
    const before = await timelineOf(pool, 'lisbon', 'reservation', 'A');
    assert.equal(before?.history_since, undefined);
    assert.equal(before?.timeline.filter(({ what }) => what === 'received').length, 2);
    const boundary = (await partitions(pool))[0]?.to.toISOString();
    await dropFirst(pool);
    const after = await timelineOf(pool, 'lisbon', 'reservation', 'A');
    const left = after?.timeline.filter(({ what }) => what === 'received');
    assert.deepEqual([after?.version, after?.history_since, left], [2, boundary, []]);
    assert.deepEqual(after?.data, before?.data, 'the record itself stays');
  }));

test('a partition that a long transaction uses is dropped later, and writers do not wait for it', () =>
  withStore(async (pool) => {
    await takeIn(pool, 'A', '1');
    const reader = await pool.connect();
    await reader.query('begin');
    await reader.query('select count(*) from history');
    try {
      assert.equal(await dropFirst(pool), 0);
      await takeIn(pool, 'B', '1');
    } finally {
      await reader.query('commit');
      reader.release();
    }
    assert.equal(await dropFirst(pool), 1);
  }));
