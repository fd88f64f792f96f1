import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { InnboundError } from '../../src/errors.ts';
import { openPrivatePostgres, type ServerEvent } from '../../src/operator/embedded-postgres/open.ts';
import { atEnd, holder, postmasterOf, query, serversOf, workspace } from './support.ts';

const service = { purpose: 'service', describe: 'a test' } as const;
const command = { purpose: 'command', describe: 'a test' } as const;

test('starts on an empty workspace, keeps data over a restart, and leaves no process or socket', async (t) => {
  const folder = await workspace(t, { empty: true });
  const first = await openPrivatePostgres(folder, service);
  await query(first.connection, 'create table kept as select 42 as answer');
  await first.release();
  assert.deepEqual(serversOf(first.dataDir), []);
  assert.deepEqual(readdirSync(first.connection.host), [], 'no socket and no lock');

  const second = await openPrivatePostgres(folder, service);
  atEnd(t, () => second.release());
  assert.deepEqual(await query(second.connection, 'select answer from kept'), [{ answer: 42 }]);
});

test('writes are durable, the socket is private, and no port is open', async (t) => {
  const postgres = await openPrivatePostgres(await workspace(t), service);
  atEnd(t, () => postgres.release());
  const settings = await query(
    postgres.connection,
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
            current_setting('full_page_writes') as pages, current_setting('listen_addresses') as addresses`,
  );
  assert.deepEqual(settings, [{ fsync: 'on', commit: 'on', pages: 'on', addresses: '' }]);

  const { host } = postgres.connection;
  for (const file of [host, path.join(host, '.s.PGSQL.5432'), postgres.dataDir]) {
    assert.equal(statSync(file).mode & 0o077, 0, `${file} is closed to others`);
  }
  assert.deepEqual(listeningSockets(postmasterOf(postgres.dataDir)), []);
  const access = readFileSync(path.join(postgres.dataDir, 'pg_hba.conf'), 'utf8');
  assert.equal(access, 'local all all trust\n');
});

test('adopts a server that a killed service left running', async (t) => {
  const folder = await workspace(t);
  const killed = holder(t, folder);
  const { dataDir, connection } = await killed.next();
  await query(connection, 'create table kept as select 1 as one');
  const pid = postmasterOf(dataDir);
  await killed.kill();

  const next = await openPrivatePostgres(folder, service);
  assert.equal(postmasterOf(dataDir), pid, 'the same process keeps serving');
  assert.deepEqual(await query(next.connection, 'select one from kept'), [{ one: 1 }]);
  await next.release();
  assert.deepEqual(serversOf(dataDir), []);
});

test('refuses a second service and names the holder of the workspace', async (t) => {
  const folder = await workspace(t);
  const first = holder(t, folder);
  const { dataDir } = await first.next();
  await assert.rejects(openPrivatePostgres(folder, service), (error) => {
    assert.ok(error instanceof InnboundError);
    assert.equal(error.code, 'store.workspace_held');
    assert.equal(error.detail.pid, first.child.pid);
    assert.match(error.message, new RegExp(`serve on port 4180, process ${first.child.pid} on \\S+, since 20\\d\\d-`));
    return true;
  });
  assert.notDeepEqual(serversOf(dataDir), [], 'the first one is not disturbed');
  await first.release();
  const freed = await openPrivatePostgres(folder, service);
  await freed.release();
});

test('commands work with and without a service; the last process to leave stops the server', async (t) => {
  const folder = await workspace(t);
  const early = await openPrivatePostgres(folder, command);
  const running = await openPrivatePostgres(folder, service);
  const late = await openPrivatePostgres(folder, command);
  await early.release();
  await running.release();
  assert.deepEqual(await query(late.connection, 'select 1 as one'), [{ one: 1 }], 'still needed, so still there');
  await late.release();
  assert.deepEqual(serversOf(late.dataDir), []);
});

test('releasing twice has the effect of releasing once', async (t) => {
  const folder = await workspace(t);
  const postgres = await openPrivatePostgres(folder, service);
  await Promise.all([postgres.release(), postgres.release()]);
  await postgres.release();
  assert.deepEqual(serversOf(postgres.dataDir), []);
});

test('of two services that start together on an empty workspace, one runs and one is refused', async (t) => {
  const folder = await workspace(t, { empty: true });
  await mkdir(path.join(folder, '.innbound', `pg.new-${await deadPid()}-half`), { recursive: true });
  const both = [holder(t, folder), holder(t, folder)];
  const said = await Promise.all(both.map((each) => each.next()));
  assert.deepEqual(said.map((each) => each.event).sort(), ['error', 'open']);
  assert.equal(said.find((each) => each.event === 'error')?.code, 'store.workspace_held');
  const { dataDir } = said.find((each) => each.event === 'open') ?? assert.fail();
  await Promise.all(both.map((each) => each.release()));
  assert.deepEqual(serversOf(dataDir), []);
  const unfinished = readdirSync(path.join(folder, '.innbound')).filter((name) => name.startsWith('pg.new'));
  assert.deepEqual(unfinished, [], 'neither the loser nor a killed start leaves a data folder');
});

test('processes that join and leave continuously all succeed, and nothing is left running', async (t) => {
  const folder = await workspace(t);
  const { dataDir, release } = await openPrivatePostgres(folder, command);
  await release();
  const visits = Array.from({ length: 4 }, async () => {
    for (let round = 0; round < 6; round++) {
      const visit = await openPrivatePostgres(folder, command);
      assert.deepEqual(await query(visit.connection, 'select 1 as one'), [{ one: 1 }]);
      await visit.release();
    }
  });
  await Promise.all(visits);
  assert.deepEqual(serversOf(dataDir), []);
});

test('a server that dies while in use is restarted at the same address', async (t) => {
  const postgres = await openPrivatePostgres(await workspace(t), service);
  atEnd(t, () => postgres.release());
  const pool = new pg.Pool(postgres.connection);
  pool.on('error', () => {});
  atEnd(t, () => pool.end());
  await pool.query('create table kept as select 7 as seven');

  const events: ServerEvent['kind'][] = [];
  const back = Promise.withResolvers<void>();
  postgres.onLost((event) => {
    events.push(event.kind);
    if (event.kind === 'back') back.resolve();
  });
  process.kill(postmasterOf(postgres.dataDir), 'SIGKILL');
  await back.promise;
  assert.deepEqual(events, ['lost', 'back']);
  assert.deepEqual((await pool.query('select seven from kept')).rows, [{ seven: 7 }]);
  await assert.rejects(openPrivatePostgres(path.join(postgres.dataDir, '..', '..'), service), {
    code: 'store.workspace_held',
  });
});

test('releasing while the server is down neither restarts it nor hangs', async (t) => {
  const postgres = await openPrivatePostgres(await workspace(t), service);
  const lost = new Promise<void>((resolve) => postgres.onLost(() => resolve()));
  process.kill(postmasterOf(postgres.dataDir), 'SIGKILL');
  await lost;
  await postgres.release();
  assert.deepEqual(serversOf(postgres.dataDir), []);
});

test('no value of a statement reaches the log', async (t) => {
  const postgres = await openPrivatePostgres(await workspace(t), service);
  atEnd(t, () => postgres.release());
  await query(postgres.connection, `create table guest (email text unique, born date)`);
  await query(postgres.connection, `insert into guest values ('ines@example.com')`);
  await assert.rejects(query(postgres.connection, `insert into guest values ('ines@example.com')`), /duplicate key/);
  await assert.rejects(query(postgres.connection, `select 'ines@example.com'::date`), /invalid input/);
  assert.doesNotMatch(readFileSync(postgres.log, 'utf8'), /ines/);
});

async function deadPid(): Promise<number> {
  const child = spawn('true');
  await once(child, 'close');
  return child.pid ?? assert.fail();
}

function listeningSockets(pid: number): string[] {
  const listening = new Map<string, string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(table, 'utf8').split('\n').slice(1)) {
      const [, address = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === '0A') listening.set(inode, address);
    }
  }
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    const target = readLink(`/proc/${pid}/fd/${fd}`);
    return listening.get(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? '');
  });
  return open.filter((address) => address !== undefined);
}

function readLink(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
