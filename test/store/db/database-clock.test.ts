import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDatabaseClock } from '../../../src/core/store/db/database-clock.ts';
import { openPool, type Pool } from '../../../src/core/store/db/pool.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { testDatabase } from '../../support/database.ts';
import { until } from '../../support/process.ts';

let pool: Pool;
before(async () => {
  pool = openPool({ connection: (await testDatabase()).connection, applicationName: 'test' });
});
after(() => pool.end());

const databaseNow = async () => {
  const { rows } = await pool.query<{ ms: number }>(
    `select extract(epoch from clock_timestamp())::float8 * 1000 as ms`,
  );
  return rows[0]?.ms ?? 0;
};

for (const wrongByMs of [0, -240_000, 600_000]) {
  test(`with a node clock that is off by ${wrongByMs} ms, the estimate is the database's time and never ahead of it`, async () => {
    const clock = await openDatabaseClock(pool, { ...systemClock, now: () => Date.now() + wrongByMs });
    for (let i = 0; i < 50; i++) {
      const estimate = clock.now();
      const real = await databaseNow();
      assert.ok(estimate <= real + 1, `${estimate - real} ms ahead`);
    }
    assert.ok(Math.abs(clock.nodeAheadMs() - wrongByMs) < 2_000);
    clock.stop();
  });
}

test('a step of the node’s wall clock does not move the estimate', async () => {
  let stepMs = 0;
  const clock = await openDatabaseClock(pool, { ...systemClock, now: () => Date.now() + stepMs });
  stepMs = 3_600_000;
  assert.ok(clock.now() <= (await databaseNow()) + 1);
  clock.stop();
});

test('after the machine was suspended, the time is measured again at once', async () => {
  let suspendedMs = 0;
  const clock = await openDatabaseClock(pool, {
    ...systemClock,
    uptimeMs: () => systemClock.uptimeMs() - suspendedMs,
  });
  suspendedMs = 60_000;
  await until('the estimate is right again', async () => (await databaseNow()) - clock.now() < 5_000);
  clock.stop();
});
