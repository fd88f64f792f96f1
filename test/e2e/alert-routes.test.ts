import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openPool } from '../../src/core/store/db/pool.ts';
import { testDatabase } from '../support/database.ts';
import { serve, until } from '../support/process.ts';

test('an alert whose node is killed while it sends is sent by the next one, under the same key', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-alerts-'));
  const database = await testDatabase();
  const pool = openPool({ connection: database.connection, applicationName: 'test' });
  const keys: string[] = [];
  let answers = false;
  const pager = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      keys.push(JSON.parse(text).dedup_key);
      // The first request never gets an answer.
      if (answers) response.writeHead(202).end('{}');
    });
  });
  await new Promise<void>((ready) => pager.listen(0, '127.0.0.1', ready));
  t.after(async () => {
    pager.closeAllConnections();
    pager.close();
    await pool.end();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${(pager.address() as AddressInfo).port}`;
  await writeFile(
    path.join(folder, 'innbound.yaml'),
    `alerts: { routes: { pager: { type: pagerduty, routing_key: key, url: "${url}" } } }\n`,
  );
  const env = { DATABASE_URL: database.url, INNBOUND_ALLOW_PRIVATE_NETWORK: '1' };
  const first = await serve(folder, { env });
  await pool.query(
    `insert into alerts (alert_id, kind, subject, severity, message) values ('alr_test', 'test', 'x', 'critical', 'Something is wrong.')`,
  );
  await pool.query(`insert into alert_sends (route, alert_id, due_at) values ('pager', 'alr_test', now())`);
  await until('the alert is on its way', async () => keys.length > 0);
  await first.kill();
  answers = true;
  const { rows } = await pool.query('select sent, leased from alert_sends');
  assert.deepEqual(rows, [{ sent: 'nothing', leased: true }]);
  const second = await serve(folder, { env });
  t.after(() => second.stop());
  // The lease of the killed node ends.
  await pool.query('update alert_sends set due_at = now()');
  const sent = await until('the route has it', async () => {
    const { rows: now } = await pool.query(`select sent, leased from alert_sends where sent = 'raised'`);
    return now[0];
  });
  assert.deepEqual(sent, { sent: 'raised', leased: false });
  assert.deepEqual(keys, ['alr_test', 'alr_test']);
});
