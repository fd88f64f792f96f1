import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { readHosts } from '../../../src/core/store/db/hosts.ts';
import { openPool } from '../../../src/core/store/db/pool.ts';
import { superuser } from '../../../src/operator/embedded-postgres/cluster.ts';
import { openPrivatePostgres } from '../../../src/operator/embedded-postgres/open.ts';
import { cuttingProxy } from '../../support/cutting-proxy.ts';
import { testDatabase } from '../../support/database.ts';

test('hosts are read as libpq reads them', () => {
  assert.equal(readHosts('postgres://app:secret@db.example/app'), undefined);
  assert.deepEqual(readHosts('postgres://app@one,two:6432,[::1]:7/app?target_session_attrs=read-write')?.hosts, [
    { host: 'one', port: 5432 },
    { host: 'two', port: 6432 },
    { host: '::1', port: 7 },
  ]);
  assert.deepEqual(readHosts('postgresql://app@%2Frun%2Fa,%2Frun%2Fb/app')?.hosts[1], { host: '/run/b', port: 5432 });
});

test('the pool finds the host that accepts writes, and finds the new one after a failover', async (t) => {
  const folders = await Promise.all([1, 2].map(() => mkdtemp(path.join(os.tmpdir(), 'ib-host-'))));
  const servers = await Promise.all(
    folders.map((folder) => openPrivatePostgres(folder, { purpose: 'command', describe: 'test' })),
  );
  // To name its folder, and to become a standby, a server needs its superuser.
  const [one, two] = servers.map(({ connection }) =>
    openPool({ connection: { ...connection, user: superuser }, applicationName: 'test', maxConnections: 2 }),
  );
  if (!one || !two) return assert.fail();
  const { database, port } = servers[0]?.connection ?? assert.fail();
  const hosts = ['127.0.0.1:1', ...servers.map(({ connection }) => `${encodeURIComponent(connection.host)}:${port}`)];
  const pool = openPool({
    connection: {
      connectionString: `postgres://${superuser}@${hosts.join(',')}/${database}?target_session_attrs=read-write`,
    },
    applicationName: 'test',
  });
  t.after(async () => {
    await Promise.all([pool, one, two].map((each) => each.end()));
    await Promise.all(servers.map((server) => server.release()));
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  });
  const standBy = async (which: typeof one, yes: boolean) => {
    await which.query(`alter system set default_transaction_read_only = ${yes ? 'on' : 'off'}`);
    await which.query('select pg_reload_conf()');
    await which.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test' and pid <> pg_backend_pid()`,
    );
  };
  const folder = async () =>
    (await pool.query<{ d: string }>(`select current_setting('data_directory') as d`)).rows[0]?.d;

  await standBy(one, true);
  assert.ok((await folder())?.startsWith(folders[1] ?? '?'), 'the first host is down, the second is read-only');
  await Promise.all(Array.from({ length: 20 }, () => pool.query('select 1')));

  await standBy(one, false);
  await standBy(two, true);
  let found: string | undefined;
  for (let tries = 0; tries < 20 && found === undefined; tries++) found = await folder().catch(() => undefined);
  assert.ok(found?.startsWith(folders[0] ?? '?'), 'the former standby is the primary now');
});

test('connections that break during the search for the primary free their places in the pool', async (t) => {
  const database = await testDatabase({ empty: true });
  const proxy = await cuttingProxy(database, 'transaction_read_only', 4);
  const { user, database: name } = database.connection;
  const pool = openPool({
    connection: {
      connectionString: `postgres://${user}@127.0.0.1:${proxy.port},localhost:${proxy.port}/${name}?sslmode=disable`,
    },
    applicationName: 'test',
    maxConnections: 2,
  });
  t.after(async () => {
    // A pool that lost a place would never end.
    await Promise.race([pool.end(), proxy.close()]);
  });
  for (let failures = 0; failures < 2; failures++) await assert.rejects(pool.query('select 1'));
  assert.equal(proxy.cuts, 0);
  assert.equal(pool.totalCount, 0, 'a broken connection holds no place');
  assert.equal((await pool.query('select 1 as one')).rows[0]?.one, 1);
});
