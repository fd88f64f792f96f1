import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { examineHost } from '../../src/operator/operations/doctor.ts';
import { hotelWorkspace } from '../e2e/workspace.ts';
import { testDatabase } from '../support/database.ts';
import { innbound } from '../support/process.ts';

const states = (json: readonly Record<string, unknown>[]) =>
  new Map(json.map(({ check, state }) => [String(check), String(state)]));

test('doctor examines a real database before and after its first use, and finds another key', async (t) => {
  const partner = createServer().listen(0, '127.0.0.1');
  await once(partner, 'listening');
  const { port } = partner.address() as AddressInfo;
  const { dir, remove } = await hotelWorkspace(`http://127.0.0.1:${port}`);
  t.after(async () => {
    partner.close();
    await remove();
  });
  const { url, connection } = await testDatabase({ empty: true });
  const env = { DATABASE_URL: url, INNBOUND_KEY: 'A'.repeat(43) };
  const doctor = (more: Record<string, string> = {}) =>
    innbound(['doctor', '-w', dir, '--json'], { env: { ...env, ...more } });

  const fresh = await doctor();
  const first = states(fresh.json());
  // The test server runs without fsync, which doctor must not overlook.
  assert.deepEqual([fresh.code, first.get('database.durability')], [1, 'problem'], fresh.stderr);
  assert.equal(first.get('database.version'), 'ok');
  assert.equal(first.get('database.migrations'), 'ok');
  const client = new pg.Client(connection);
  await client.connect();
  t.after(() => client.end());
  const { rows } = await client.query(`select from pg_namespace where nspname = 'innbound_service'`);
  assert.equal(rows.length, 0, 'doctor creates nothing');

  assert.equal((await innbound(['apply', '-w', dir], { env })).code, 0);
  const applied = states((await doctor()).json());
  assert.deepEqual([applied.get('key'), applied.get('nodes'), applied.get('documents')], ['ok', 'ok', 'ok']);
  assert.equal(states((await doctor({ INNBOUND_KEY: 'B'.repeat(43) })).json()).get('key'), 'problem');

  assert.equal(states((await doctor()).json()).get('alerts'), 'ok');
  await client.query(
    `insert into innbound_service.alerts (alert_id, kind, subject, severity, message)
     values ('alr_1', 'destination_refusing', 'crm', 'critical', 'crm refuses our credentials: it answered 401.')`,
  );
  const refused = (await doctor()).json().find(({ check }) => check === 'alerts.destination_refusing');
  assert.equal(refused?.state, 'problem');
  assert.match(String(refused?.message), /crm refuses our credentials/);

  await client.query(`insert into innbound_service.migrations (number, name, hash) values (9999, 'later', '')`);
  assert.equal(states((await doctor()).json()).get('database.migrations'), 'problem');
});

test('doctor reports a database that does not answer, and missing secrets, without a stack', async (t) => {
  const { dir, remove } = await hotelWorkspace(`\${env:NO_SUCH_ADDRESS}`);
  t.after(remove);
  const ran = await innbound(['doctor', '-w', dir], { env: { DATABASE_URL: 'postgres://x@127.0.0.1:9/x' } });
  assert.equal(ran.code, 1);
  assert.match(ran.stdout, /PROBLEM database: .*\n +Check DATABASE_URL/);
  assert.match(ran.stdout, /PROBLEM secrets: integration grand needs \$\{env:NO_SUCH_ADDRESS\}/);
  assert.doesNotMatch(ran.stdout + ran.stderr, /\n\s+at /);
});

test('doctor reports a folder that is not a workspace', async () => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-doctor-'));
  try {
    const ran = await innbound(['doctor', '-w', dir, '--json']);
    assert.equal(ran.code, 1);
    assert.deepEqual(
      ran.json().map(({ check, state }) => [check, state]),
      [['documents', 'problem']],
    );
  } finally {
    await rm(dir, { recursive: true });
  }
});

test('hosts are resolved and connected to, within the rules for private addresses', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const rules = { allowPrivate: true, now: Date.now() };
  const kind = async (origin: string, more = {}) =>
    (await examineHost(origin, [], { ...rules, ...more })).failure?.kind;
  assert.equal(await kind(`http://127.0.0.1:${port}`), undefined);
  assert.equal(await kind(`http://127.0.0.1:${port}`, { allowPrivate: false }), 'private');
  assert.equal(await kind('http://localhost:9', { allowPrivate: false }), 'private');
  assert.equal(await kind('http://127.0.0.1:9'), 'unreachable');
  const lookup = () => Promise.reject(new Error('ENOTFOUND'));
  assert.equal(await kind('http://pms.example', { lookup }), 'dns');
  assert.equal(await kind(`https://127.0.0.1:${port}`), 'tls', 'a server that does not speak TLS');
});
