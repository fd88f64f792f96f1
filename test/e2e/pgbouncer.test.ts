import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { openPool } from '../../src/core/store/db/pool.ts';
import { refuseTransactionPooling } from '../../src/core/store/db/pooling.ts';
import { testDatabase } from '../support/database.ts';
import { noPgbouncer, startPgbouncer } from '../support/pgbouncer.ts';
import { innbound, serve, until } from '../support/process.ts';
import { deliveredLines, hotelWorkspace } from './workspace.ts';

test('a node works through pgbouncer in session mode', { skip: noPgbouncer }, async (t) => {
  const bouncer = await startPgbouncer(await testDatabase(), 'session');
  const partner = await startSimulator({ seed: 9, reservations: 40, auth: { type: 'bearer', token: 'letmein' } });
  const { dir, remove } = await hotelWorkspace(partner.baseUrl);
  const env = { DATABASE_URL: bouncer.url };
  const node = await serve(dir, { env });
  t.after(async () => {
    await node.stop();
    await partner.stop();
    await bouncer.stop();
    await remove();
  });
  const at = async (...args: string[]) => {
    const ran = await innbound([...args, '--workspace', dir, '--json'], { env });
    assert.equal(ran.code, 0, ran.stderr);
    return ran.json()[0] ?? {};
  };
  const issued = await at('endpoint', 'grand');
  const target = {
    url: `${node.url}/webhooks/${issued.endpoint_id}`,
    secret: String(issued.secret),
    brand_id: 'LIS01',
  };
  await partner.pushTo([target]);
  assert.equal((await at('sync', 'grand', '--type', 'pre_stay')).status, 'complete');
  partner.hotel.advance(20);
  await partner.pushed();
  assert.equal(partner.stats.pushes.dead, 0);
  await until('pulled and pushed reservations are delivered', async () => {
    const byId = new Map((await deliveredLines(path.join(dir, 'out'))).map((line) => [line.data.id, line]));
    const known = partner.hotel.list().filter(({ id }) => byId.has(id));
    return known.length >= 10 && known.every(({ id, status }) => byId.get(id)?.data.status === status);
  });
});

for (const poolSize of [40, 1]) {
  test(`pgbouncer in transaction mode is refused in one line (${poolSize} server connections)`, {
    skip: noPgbouncer,
    timeout: 60_000,
  }, async (t) => {
    const bouncer = await startPgbouncer(await testDatabase(), 'transaction', poolSize);
    const { dir, remove } = await hotelWorkspace('http://127.0.0.1:9');
    t.after(async () => {
      await bouncer.stop();
      await remove();
    });
    const ran = await innbound(['apply', '--workspace', dir], { env: { DATABASE_URL: bouncer.url } });
    assert.notEqual(ran.code, 0);
    assert.match(ran.stderr, /store\.transaction_pooling/);
    assert.match(ran.stderr, /pool_mode = session/);
    assert.doesNotMatch(ran.stderr, /\n\s+at /, 'no stack');
  });
}

test('a direct connection is not mistaken for a pooler', async () => {
  const { connection } = await testDatabase();
  const pool = openPool({ connection, applicationName: 'test', maxConnections: 2 });
  try {
    for (let i = 0; i < 20; i++) await refuseTransactionPooling(pool);
  } finally {
    await pool.end();
  }
});
