import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { startService } from '../../src/service.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/process.ts';

async function emptyWorkspace() {
  const database = await testDatabase();
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-health-'));
  await writeFile(path.join(dir, 'innbound.yaml'), '');
  return { database, dir, env: { DATABASE_URL: database.url, INNBOUND_LOG_LEVEL: 'silent' } };
}

test('a node reports whether it runs, and whether it can accept work or why not', async () => {
  const { database, dir, env } = await emptyWorkspace();
  const admin = new pg.Client({ ...database.connection, database: 'postgres' });
  await admin.connect();
  const service = await startService({ env, workspaceDir: dir, host: '127.0.0.1', port: 0, role: 'worker' });
  const ask = async (at: string) => {
    const answer = await fetch(`${service.url}${at}`);
    return { status: answer.status, retry: answer.headers.get('retry-after'), body: await answer.json() };
  };
  try {
    assert.deepEqual(await ask('/readyz'), {
      status: 200,
      retry: null,
      body: { status: 'ready', role: 'worker', worker: true },
    });
    const name = database.connection.database;
    await admin.query(`alter database ${name} with allow_connections false`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    const away = await until('the store is missed', async () => {
      const seen = await ask('/readyz');
      return seen.status === 503 && seen;
    });
    assert.deepEqual(away, { status: 503, retry: '5', body: { status: 'not_ready', reasons: ['store.unreachable'] } });
    assert.equal((await ask('/healthz')).status, 200, 'the process lives: a restart would not help');
    await admin.query(`alter database ${name} with allow_connections true`);
    await until('it is ready again', async () => (await ask('/readyz')).status === 200);
  } finally {
    await service.stop();
    await admin.end();
    await rm(dir, { recursive: true, force: true });
  }
});

test('a metrics port that is taken is named in the error', async () => {
  const { dir, env } = await emptyWorkspace();
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port: taken } = holder.address() as AddressInfo;
  await writeFile(path.join(dir, 'innbound.yaml'), `metrics: { access: open, port: ${taken} }\n`);
  try {
    const starting = startService({ env, workspaceDir: dir, host: '127.0.0.1', port: 0, role: 'worker' });
    await assert.rejects(starting, { code: 'operate.port_taken', message: `Port ${taken} on 127.0.0.1 is taken.` });
  } finally {
    holder.close();
    await rm(dir, { recursive: true, force: true });
  }
});

test('a worker stops when a newer version has migrated the database; a web node stays until it is replaced', async () => {
  const { dir, env } = await emptyWorkspace();
  const options = { env, workspaceDir: dir, host: '127.0.0.1', port: 0, seenEveryMs: 50 };
  const worker = await startService({ ...options, role: 'worker' });
  const web = await startService({ ...options, role: 'web' });
  try {
    await web.runtime.pool.query(`insert into migrations (number, name, hash) values (9999, 'of-tomorrow', '')`);
    const reason = await worker.runtime.lost;
    assert.equal(reason.code, 'store.newer_schema');
    assert.match(reason.message, /migration 9999 \(of-tomorrow\)/);
    let looks = 0;
    const { pool } = web.runtime;
    const query = pool.query.bind(pool) as (...asked: unknown[]) => unknown;
    pool.query = ((...asked: unknown[]) => {
      if (String(asked[0]).includes('insert into nodes')) looks += 1;
      return query(...asked);
    }) as typeof pool.query;
    await until('the web node was seen some times over', async () => looks > 2);
    const stays = await Promise.race([web.runtime.lost, Promise.resolve('stays')]);
    assert.equal(stays, 'stays');
  } finally {
    await worker.stop();
    await web.stop();
    await rm(dir, { recursive: true, force: true });
  }
});
