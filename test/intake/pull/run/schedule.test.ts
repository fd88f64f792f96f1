import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { pino } from 'pino';
import { Handover } from '../../../../src/core/deliver/handover.ts';
import { startRunner } from '../../../../src/core/intake/pull/run/runner.ts';
import { startScheduler } from '../../../../src/core/intake/pull/run/schedule.ts';
import { openPartnerStore } from '../../../../src/core/store/runs/partner-accounts.ts';
import { openRunStore } from '../../../../src/core/store/runs/runs.ts';
import { alignSchedules, msToNextStart, type Schedule, startDue } from '../../../../src/core/store/runs/schedules.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { Wake } from '../../../../src/kit/loop.ts';
import { type IntegrationName, syncTypes } from '../../../../src/terms.ts';
import { bookings } from '../support/partner.ts';
import { setUpPulls } from '../support/set-up.ts';

const { runtime, partnerOf } = setUpPulls();
describe('the schedule', () => {
  beforeEach(async () => {
    await runtime.pool.query('truncate syncs, runs, partner_accounts, documents cascade');
  });

  const brands = (count: number, everyMs = 1_800_000): Schedule[] =>
    Array.from({ length: count }, (_, i) =>
      syncTypes.map((sync) => ({ integration: `brand${i}` as IntegrationName, sync, everyMs })),
    ).flat();

  test('a thousand brands do not start together: neither at first nor later', async () => {
    await alignSchedules(runtime.pool, brands(1000));
    const { rows: first } = await runtime.pool.query<{ minute: number; n: number }>(
      `select floor(extract(epoch from next_at - now()) / 60)::int as minute, count(*) as n from syncs group by 1`,
    );
    assert.ok(first.length >= 30, 'spread over every minute of the half hour');
    for (const { n } of first) assert.ok(n < 150, `${n} starts in a minute, of 100 on average`);
    await runtime.pool.query(`update syncs set next_at = now()`);
    while ((await startDue(runtime.pool, 500)).seen > 0);
    const { rows: later } = await runtime.pool.query<{ minute: number; n: number }>(
      `select floor(extract(epoch from next_at - now()) / 60)::int as minute, count(*) as n from syncs group by 1`,
    );
    assert.ok(later.length >= 30);
    for (const { n } of later) assert.ok(n < 150);
  });

  test('one brand starts within seconds; a new interval moves its start, the same interval does not', async () => {
    await alignSchedules(runtime.pool, brands(1));
    assert.ok(((await msToNextStart(runtime.pool)) ?? 1e9) <= 3_000);
    const times = async () =>
      (await runtime.pool.query('select sync, every_ms, next_at from syncs where next_at is not null order by sync'))
        .rows;
    const before = await times();
    await alignSchedules(runtime.pool, brands(1));
    assert.deepEqual(await times(), before);
    await alignSchedules(runtime.pool, brands(1, 900_000).slice(0, 2));
    const after = await times();
    assert.deepEqual(
      after.map(({ every_ms }) => every_ms),
      [900_000, 900_000],
    );
    await alignSchedules(runtime.pool, []);
    assert.equal(await msToNextStart(runtime.pool), undefined);
  });

  test('a change of one brand does not change the schedules of others', async () => {
    await alignSchedules(runtime.pool, brands(3));
    const times = async () =>
      (
        await runtime.pool.query(
          'select integration, sync, every_ms, xmin::text from syncs where next_at is not null order by 1, 2',
        )
      ).rows;
    const before = await times();
    await alignSchedules(runtime.pool, brands(1, 900_000), brands(3).slice(6));
    const after = await times();
    assert.deepEqual(
      after.filter(({ integration }) => integration === 'brand1'),
      before.filter(({ integration }) => integration === 'brand1'),
    );
    assert.deepEqual(
      after.map(({ integration, every_ms }) => [integration, every_ms]),
      [...Array(3).fill(['brand0', 900_000]), ...Array(3).fill(['brand1', 1_800_000])],
    );
  });

  test('one claim takes as many due runs as there are free slots', async () => {
    await alignSchedules(runtime.pool, brands(2));
    await runtime.pool.query('update syncs set next_at = now()');
    await startDue(runtime.pool, 500);
    const store = openRunStore(runtime.pool, new Handover());
    assert.equal((await store.claimDue(4, 'first', 60_000)).length, 4);
    const rest = await store.claimDue(4, 'second', 60_000);
    assert.equal(rest.length, 2);
    assert.ok(rest.every(({ fence }) => fence === 1));
    assert.deepEqual(await store.claimDue(4, 'third', 60_000), []);
  });

  test('a sync with an active run is not started again, on any node', async () => {
    await alignSchedules(runtime.pool, brands(20));
    await runtime.pool.query(`update syncs set next_at = now()`);
    const started = await Promise.all(Array.from({ length: 6 }, () => startDue(runtime.pool, 100)));
    assert.equal(
      started.reduce((sum, one) => sum + one.started, 0),
      60,
    );
    await runtime.pool.query(`update syncs set next_at = now()`);
    assert.deepEqual(await startDue(runtime.pool, 100), { started: 0, seen: 60 });
    const { rows } = await runtime.pool.query('select count(*) as n, sum(skipped) as skipped from syncs');
    assert.deepEqual([rows[0].n, Number(rows[0].skipped)], [60, 60]);
  });

  test('after a long outage a sync starts once, not once for every start it missed', async () => {
    await alignSchedules(runtime.pool, brands(1));
    await runtime.pool.query(`update syncs set next_at = now() - interval '1 day'`);
    assert.equal((await startDue(runtime.pool, 100)).started, 3);
    const { rows } = await runtime.pool.query<{ ms: number }>(
      `select extract(epoch from next_at - now())::float8 * 1000 as ms from syncs`,
    );
    for (const { ms } of rows) assert.ok(ms > 0 && ms <= 1_800_000);
  });

  test('a brand with refused credentials is paused until they work or its document changes', async () => {
    await alignSchedules(runtime.pool, brands(1));
    await runtime.pool.query(`insert into documents (kind, name, version, source, body, hash, applied_by) values
    ('integration', 'brand0', 1, '', '{}', '', 'test'), ('integration', 'brand0', 2, '', '{}', '', 'test')`);
    const putInForce = async (version: number) => {
      await runtime.pool.query('update documents set in_force = false where version <> $1', [version]);
      await runtime.pool.query('update documents set in_force = true where version = $1', [version]);
    };
    await putInForce(1);
    const store = openPartnerStore(runtime.pool);
    await store.authFailed('brand0' as IntegrationName, 1, 'refused');
    const due = async () => {
      await runtime.pool.query(`update syncs set next_at = now()`);
      return (await startDue(runtime.pool, 100)).started;
    };
    assert.equal(await due(), 0);
    await putInForce(2);
    assert.equal(await due(), 3);
    await putInForce(1);
    await runtime.pool.query(`update runs set state = 'complete', due_at = null`);
    assert.equal(await due(), 0);
    await store.authWorked('brand0' as IntegrationName);
    assert.equal(await due(), 3);
  });

  test('two nodes with scheduler and runner poll a brand once per start, and stop promptly', async () => {
    const partner = await partnerOf(() => ({ json: { reservations: bookings(3, '2026-03-01') } }));
    const wake = new Wake();
    const log = pino({ level: 'silent' });
    const documents = {};
    const nodes = ['a', 'b'].flatMap((node) => [
      startScheduler({
        log,
        wait: (maxMs, signal) => wake.wait('schedules', Math.min(maxMs, 100), signal),
        documents: () => documents,
        align: () =>
          alignSchedules(runtime.pool, [
            { integration: 'polled' as IntegrationName, sync: 'pre_stay', everyMs: 900_000 },
          ]),
        startDue: (most) => startDue(runtime.pool, most),
        msToNextStart: () => msToNextStart(runtime.pool),
        queued: () => wake.signal('runs'),
      }),
      startRunner({
        ...runtime.ports(
          { integration: 'polled', baseUrl: partner.url, connector: { pull: { pagination: { type: 'none' } } } },
          { node, clock: systemClock },
        ),
        wait: (topic, maxMs, signal) => wake.wait(topic, Math.min(maxMs, 100), signal),
      }),
    ]);
    const done = async (runs: number) => {
      for (;;) {
        const { rows } = await runtime.pool.query(`select count(*) as n from runs where state = 'complete'`);
        if (rows[0].n >= runs) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await done(1);
    await runtime.pool.query('update syncs set next_at = now()');
    wake.signal('schedules');
    await done(2);
    await Promise.all(nodes.map((node) => node.stop()));
    assert.equal(partner.requests.length, 2);
    await partner.close();
  });
});
