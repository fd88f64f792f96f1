/**
 * A real PostgreSQL for tests.
 *
 *   const db = await testDatabase();            // an empty database of its own, about 50 ms after the first
 *   const pool = new pg.Pool(db.connection);    // or: process.env.DATABASE_URL = db.url
 *   ...
 *   await pool.end();                           // what a test opens, it closes
 *   await db.drop();                            // optional: all goes when the process ends
 *   await testDatabase({ copyOf: db });         // a copy, for instance of a migrated database (nobody may be connected to it)
 *
 * One server per process, so one per test file; the first call starts it. It is quick and not durable (fsync off): to test
 * what survives a crash, use openPrivatePostgres. It ends with the process, however that ends, and takes its folder along.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chown, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Account, chooseAccount, invocation, programEnv, runAs } from '../../src/embedded-postgres/account.ts';
import { type Binaries, findBinaries, publicCopy } from '../../src/embedded-postgres/binaries.ts';
import { createCluster, superuser } from '../../src/embedded-postgres/cluster.ts';

export interface TestDatabase {
  /** For pg.Client and pg.Pool. */
  readonly connection: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly database: string;
    readonly ssl: false;
  };
  /** The same as a DATABASE_URL. */
  readonly url: string;
  drop(): Promise<void>;
}

let server: Promise<string> | undefined;
let made = 0;

export async function testDatabase({ copyOf }: { copyOf?: TestDatabase } = {}): Promise<TestDatabase> {
  server ??= startServer();
  const socketDir = await server;
  made += 1;
  const database = `test_${made}`;
  const template = copyOf?.connection.database ?? 'template0';
  await command(socketDir, `create database ${database} template ${template} strategy file_copy`);
  return {
    connection: { host: socketDir, port: 5432, user: superuser, database, ssl: false },
    url: `postgres://${superuser}@/${database}?host=${encodeURIComponent(socketDir)}`,
    drop: () => command(socketDir, `drop database if exists ${database} with (force)`),
  };
}

async function command(socketDir: string, sql: string): Promise<void> {
  const client = new pg.Client({ host: socketDir, user: superuser, database: 'postgres', ssl: false });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function startServer(): Promise<string> {
  const account = await chooseAccount();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-test-'));
  if (account.kind === 'user') await chown(folder, account.uid, account.gid);
  try {
    const binaries = await binariesFor(account, folder);
    await copyTemplate(binaries, account, path.join(folder, 'data'));
    await launch(binaries, account, folder);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** A data folder as initdb makes it, with the database `innbound` in it, for tests that start a server of their own. */
export async function copyCluster(data: string): Promise<void> {
  const binaries = await findBinaries(path.join(path.dirname(data), 'lib'));
  await copyTemplate(binaries, await chooseAccount(), data);
}

async function binariesFor(account: Account, folder: string): Promise<Binaries> {
  const found = await findBinaries(path.join(folder, 'lib'));
  return account.kind === 'user' ? publicCopy(found, folder) : found;
}

const quick = [
  ['listen_addresses', ''],
  ['unix_socket_permissions', '0700'],
  ['fsync', 'off'],
  ['synchronous_commit', 'off'],
  ['full_page_writes', 'off'],
  ['autovacuum_naptime', '1min'],
  ['shared_buffers', '64MB'],
  ['max_connections', '100'],
  ['jit', 'off'],
] as const;

/** The shell outlives us by one moment: our end of its input closes when we end, even by SIGKILL, and it cleans up. */
const guard = `
  folder=$1; shift
  "$@" >"$folder/log" 2>&1 </dev/null & server=$!
  trap '' HUP INT TERM
  read -r ignored
  kill -QUIT $server; wait $server
  rm -rf -- "$folder"
`;

async function launch(binaries: Binaries, account: Account, folder: string): Promise<void> {
  const settings = [...quick, ['unix_socket_directories', folder] as const].flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const call = invocation(account, binaries.postgres, ['-D', path.join(folder, 'data'), ...settings]);
  const child = spawn('/bin/sh', ['-c', guard, 'sh', folder, call.file, ...call.args], {
    ...call.options,
    env: programEnv(binaries.loaderEnv),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(child, 'spawn');
  await ready(folder);
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
}

async function ready(folder: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      return await command(folder, 'select 1');
    } catch (error) {
      if (Date.now() > deadline)
        throw new Error(`the test server did not start; its log: ${folder}/log`, { cause: error });
      await delay(10);
    }
  }
}

/** initdb takes most of a second: it is done once per version and account, and copied. */
async function copyTemplate(binaries: Binaries, account: Account, data: string): Promise<void> {
  const template = await cachedTemplate(binaries, account).catch(() => undefined);
  if (template === undefined) return createCluster(binaries, account, data, { durable: false });
  const copied = await runAs(account, 'cp', ['-R', template, data]);
  if (copied.code !== 0) throw new Error(`copying the test cluster failed: ${copied.output}`);
}

async function cachedTemplate(binaries: Binaries, account: Account): Promise<string | undefined> {
  const packages = fileURLToPath(import.meta.resolve('../../node_modules'));
  // Root leaves nothing in another's folder that its owner could not remove, and nobody can keep nothing there.
  if (account.kind === 'user' || (await stat(packages)).uid !== process.getuid?.()) return undefined;
  const cache = path.join(packages, '.cache', 'innbound');
  const template = path.join(cache, `test-cluster-${binaries.version}-${account.kind}`);
  if (await access(template).then(isDone, isRefused)) return template;
  await mkdir(cache, { recursive: true });
  const aside = await mkdtemp(path.join(cache, 'making-'));
  try {
    await createCluster(binaries, account, path.join(aside, 'data'), { durable: false });
    await rename(path.join(aside, 'data'), template).catch(() => {}); // lost a race: theirs is as good
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return template;
}

const isDone = () => true;
const isRefused = () => false;
