import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPool, type Pool } from '../../../src/core/store/db/pool.ts';
import { openSignals, signalNodes } from '../../../src/core/store/db/signals.ts';
import { Wake } from '../../../src/kit/loop.ts';
import { cuttingProxy } from '../../support/cutting-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { until } from '../../support/process.ts';

test('after connections that break while they begin to listen, a node listens on one connection', async (t) => {
  const database = await testDatabase({ empty: true });
  const proxy = await cuttingProxy(database, 'listen innbound', 0);
  const { user, database: name } = database.connection;
  const open = (applicationName: string) =>
    openPool({
      connection: { connectionString: `postgres://${user}@127.0.0.1:${proxy.port}/${name}?sslmode=disable` },
      applicationName,
    });
  const [pool, other] = [open('listening'), open('other')];
  const wake = new Wake();
  // Retries follow at once.
  const timers = { schedule: (_ms: number, run: () => void) => cancelling(setImmediate(run)) };
  const signals = await openSignals(pool, wake, { timers });
  t.after(async () => {
    await signals.close();
    await Promise.race([Promise.all([pool.end(), other.end()]), proxy.close()]);
  });
  proxy.cuts = 3;
  await other.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listening'`);
  const woken = wake.wait('events', 60_000);
  while (proxy.cuts > 0 || (await listeners(other)) === 0) await new Promise(setImmediate);
  await signalNodes(other, 'events');
  await woken;
  assert.equal(await listeners(other), 1);
  assert.equal(pool.totalCount - pool.idleCount, 1, 'no other connection is taken');
});

test('a node that stops while it begins to listen ends its connections', async (t) => {
  const database = await testDatabase({ empty: true });
  const pool = openPool({ connection: database.connection, applicationName: 'listening' });
  const other = openPool({ connection: database.connection, applicationName: 'other' });
  t.after(() => other.end());
  const retry = Promise.withResolvers<() => void>();
  const timers = {
    schedule: (_ms: number, run: () => void) => {
      retry.resolve(run);
      return () => {};
    },
  };
  const signals = await openSignals(pool, new Wake(), { timers });
  await other.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listening'`);
  (await retry.promise)();
  await signals.close();
  let isEnded = false;
  void pool.end().then(() => {
    isEnded = true;
  });
  await until('the pool ends: nobody holds a connection', async () => isEnded);
});

async function listeners(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(*) as n from pg_stat_activity where application_name = 'listening' and query like 'listen%' and state = 'idle'`,
  );
  return rows[0]?.n ?? 0;
}

const cancelling = (immediate: NodeJS.Immediate) => () => clearImmediate(immediate);
