import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openPrivatePostgres } from '../../src/operator/embedded-postgres/open.ts';
import { atEnd, holder, postmasterOf, query, serversOf, workspace } from './support.ts';

const service = { purpose: 'service', describe: 'a test' } as const;

test('supports paths with spaces, quotes and non-ASCII letters', async (t) => {
  const folder = await workspace(t, { empty: true, below: `Hôtel "l'Été", 2nd floor` });
  const postgres = await openPrivatePostgres(folder, service);
  assert.equal(postgres.connection.host, path.join(folder, '.innbound', 'run'));
  assert.deepEqual(await query(postgres.connection, 'select 1 as one'), [{ one: 1 }]);
  await postgres.release();
  assert.deepEqual(serversOf(postgres.dataDir), []);
});

test('a path too long for a socket uses one private temporary folder, removed after the stop', async (t) => {
  const folder = await workspace(t, { below: 'long'.repeat(30) });
  const first = holder(t, folder);
  const { connection, dataDir } = await first.next();
  assert.ok(!connection.host.startsWith(folder));
  assert.equal(statSync(connection.host).mode & 0o777, 0o700);
  await first.kill();
  const second = await openPrivatePostgres(folder, service);
  assert.equal(second.connection.host, connection.host);
  await second.release();
  assert.deepEqual(serversOf(dataDir), []);
  assert.ok(!existsSync(connection.host));

  const third = await openPrivatePostgres(folder, service);
  assert.equal(third.connection.host, connection.host, 'and comes back under its old name, which pools may still use');
  await third.release();
});

test('a postmaster.pid that names another program does not prevent the start', async (t) => {
  const folder = await workspace(t);
  const stranger = spawn('sleep', ['600'], { cwd: folder });
  await once(stranger, 'spawn');
  atEnd(t, () => stranger.kill());
  const home = path.join(folder, '.innbound');
  const lock = [
    stranger.pid,
    path.join(home, 'pg'),
    '1700000000',
    '5432',
    path.join(home, 'run'),
    '',
    '  5432001 0',
    'ready   ',
    '',
  ];
  await writeFile(path.join(home, 'pg', 'postmaster.pid'), lock.join('\n'));
  await writeFile(path.join(home, 'run', '.s.PGSQL.5432.lock'), lock.join('\n'));

  const postgres = await openPrivatePostgres(folder, service);
  assert.notEqual(postmasterOf(postgres.dataDir), stranger.pid);
  await postgres.release();
  assert.equal(stranger.exitCode ?? stranger.signalCode, null, 'the other program keeps running');
});

test('a copy of a running workspace gets its own server', async (t) => {
  const folder = await workspace(t, { below: 'long'.repeat(30) });
  const original = holder(t, folder);
  const { connection } = await original.next();
  await query(connection, 'create table original ()');
  const other = path.join(path.dirname(folder), 'copy');
  await mkdir(other);
  // As a copy made while the original runs: its link to the socket, and its data without the last transactions.
  await cp(path.join(await workspace(t), '.innbound'), path.join(other, '.innbound'), { recursive: true });
  await rm(path.join(other, '.innbound', 'run'), { recursive: true });
  await symlink(connection.host, path.join(other, '.innbound', 'run'));

  const copy = await openPrivatePostgres(other, service);
  assert.deepEqual(await query(copy.connection, `select to_regclass('original') as found`), [{ found: null }]);
  await copy.release();
  assert.deepEqual(await query(connection, `select to_regclass('original')::text as found`), [{ found: 'original' }]);
});

test('a workspace renamed while its server is running keeps its server', async (t) => {
  const folder = await workspace(t);
  const left = holder(t, folder);
  const { dataDir } = await left.next();
  const pid = postmasterOf(dataDir);
  await left.kill();
  await rename(folder, `${folder}-renamed`);
  const postgres = await openPrivatePostgres(`${folder}-renamed`, service);
  assert.equal(postmasterOf(postgres.dataDir), pid);
  await postgres.release();
  assert.deepEqual(serversOf(postgres.dataDir), []);
});

test('a workspace renamed to a path too long for the socket of its running server says so', async (t) => {
  const folder = await workspace(t);
  const user = holder(t, folder);
  const { dataDir } = await user.next();
  const pid = postmasterOf(dataDir);
  const renamed = `${folder}${'-long'.repeat(25)}`;
  await rename(folder, renamed);
  await assert.rejects(openPrivatePostgres(renamed, { ...service, purpose: 'command' }), (error: Error) => {
    assert.equal((error as Error & { code: string }).code, 'store.postgres_failed');
    assert.match(error.message, new RegExp(`too long for a socket.*process ${pid}`));
    assert.ok(error.message.includes(renamed));
    return true;
  });
  await rename(renamed, folder);
  const postgres = await openPrivatePostgres(folder, { ...service, purpose: 'command' });
  assert.equal(postmasterOf(postgres.dataDir), pid, 'the server and its socket are unharmed');
  await postgres.release();
});

test('data that PostgreSQL refuses is reported with its reason and the log', async (t) => {
  const folder = await workspace(t);
  await writeFile(path.join(folder, '.innbound', 'pg', 'PG_VERSION'), '9\n');
  await assert.rejects(openPrivatePostgres(folder, service), (error: Error) => {
    assert.equal((error as Error & { code: string }).code, 'store.postgres_failed');
    assert.match(error.message, /FATAL.*incompatible/);
    assert.ok(error.message.includes(path.join(folder, '.innbound', 'postgres.log')));
    return true;
  });
});
