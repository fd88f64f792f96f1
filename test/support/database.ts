/**
 * A real PostgreSQL for tests.
 *
 *   const db = await testDatabase();            // a new migrated database, about 50 ms after the first
 *   const db = await testDatabase({ empty: true });
 *   const pool = plainPool(db.connection);      // or: openPool, or: env: { DATABASE_URL: db.url }
 *   ...
 *   await pool.end();                           // tests close what they open
 *   await db.drop();                            // optional: all goes when the process ends
 *   await testDatabase({ copyOf: db });         // a copy (nobody may be connected to the original)
 *
 * One server per process, so one per test file; the first call starts it. It is quick and not durable (fsync off): to test
 * what survives a crash, use openPrivatePostgres. It ends with the process, however that ends, and takes its folder along.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { hashOf, migrate, readVersion } from '../../src/core/store/db/migrate.ts';
import { openPool } from '../../src/core/store/db/pool.ts';
import {
  type Account,
  chooseAccount,
  invocation,
  programEnv,
  runAs,
  self,
} from '../../src/operator/embedded-postgres/account.ts';
import { type Binaries, findBinaries, publicCopy } from '../../src/operator/embedded-postgres/binaries.ts';
import { createCluster, databaseName, superuser } from '../../src/operator/embedded-postgres/cluster.ts';
import { ensureRole, serviceRole } from '../../src/operator/embedded-postgres/role.ts';

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
  /** For what the service itself may not do. */
  readonly asSuperuser: TestDatabase['connection'];
  drop(): Promise<void>;
}

let server: Promise<string> | undefined;
let made = 0;

export async function testDatabase({
  copyOf,
  empty = false,
}: {
  copyOf?: TestDatabase;
  empty?: boolean;
} = {}): Promise<TestDatabase> {
  server ??= startServer();
  const socketDir = await server;
  made += 1;
  const database = `test_${made}`;
  const template = empty ? 'template0' : (copyOf?.connection.database ?? databaseName);
  await command(socketDir, `create database ${database} owner ${serviceRole} template ${template} strategy file_copy`);
  const connection = { host: socketDir, port: 5432, user: serviceRole, database, ssl: false } as const;
  return {
    connection,
    url: `postgres://${serviceRole}@/${database}?host=${encodeURIComponent(socketDir)}`,
    asSuperuser: { ...connection, user: superuser },
    drop: () => command(socketDir, `drop database if exists ${database} with (force)`),
  };
}

/**
 * A pool without the settings of the service. Its connections may be ended by the server: `pool.end()` resolves before they are
 * closed, and dropping the database ends them.
 */
export function plainPool(connection: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(connection);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

const command = (socketDir: string, sql: string): Promise<void> =>
  withSuperuser(socketDir, 'postgres', async (client) => void (await client.query(sql)));

async function withSuperuser(
  host: string,
  database: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ host, user: superuser, database, ssl: false });
  client.on('error', () => {});
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function startServer(): Promise<string> {
  const account = await chooseAccount();
  const folder = await serverFolder(account);
  try {
    const found = await findBinaries(path.join(folder, 'lib'));
    await copyTemplate(found, account, path.join(folder, 'data'));
    await launch(await reachableBinaries(found, account, folder), account, folder);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function serverFolder(account: Account): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-test-'));
  if (account.kind === 'user') await chown(folder, account.uid, account.gid);
  return folder;
}

/** A data folder as the service leaves it after its first start, for tests that start their own server. */
export async function copyCluster(data: string): Promise<void> {
  const binaries = await findBinaries(path.join(path.dirname(data), 'lib'));
  await copyTemplate(binaries, await chooseAccount(), data);
}

const reachableBinaries = async (found: Binaries, account: Account, folder: string): Promise<Binaries> =>
  account.kind === 'user' ? publicCopy(found, folder) : found;

const quick = [
  ['listen_addresses', ''],
  ['unix_socket_permissions', '0700'],
  ['fsync', 'off'],
  ['synchronous_commit', 'off'],
  ['full_page_writes', 'off'],
  ['autovacuum_naptime', '1min'],
  ['shared_buffers', '64MB'],
  ['max_connections', '300'],
  ['jit', 'off'],
] as const;

/** The shell ends just after us: its input closes when our process ends, even by SIGKILL, and it cleans up. */
const guard = `
  folder=$1; shift
  "$@" >"$folder/log" 2>&1 </dev/null & server=$!
  trap '' HUP INT TERM
  read -r ignored
  kill -QUIT $server; wait $server
  rm -rf -- "$folder"
`;

async function launch(binaries: Binaries, account: Account, folder: string): Promise<ChildProcess> {
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
  return child;
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

const templateName = 'test-cluster-';

/** initdb and the migrations take 1.5 s: they run once per version, set of migrations, account and day, and are copied. */
async function copyTemplate(binaries: Binaries, account: Account, data: string): Promise<void> {
  const cache = await cacheFolder();
  if (cache === undefined) return makeTemplate(binaries, account, data);
  // The partitions in it begin with the day it was made.
  const { schema, migrations } = await readVersion();
  const contents = [
    hashOf(schema),
    serviceRole,
    ...migrations.map(({ sql }) => hashOf(sql)),
    new Date().toISOString().slice(0, 10),
  ].join();
  const hash = createHash('sha256').update(contents).digest('hex').slice(0, 12);
  const template = path.join(cache, `${templateName}${binaries.version}-${account.kind}-${hash}`);
  if (!(await access(template).then(isDone, isRefused))) {
    await removeOldTemplates(cache);
    const aside = await mkdtemp(path.join(cache, 'making-'));
    try {
      await makeTemplate(binaries, account, path.join(aside, 'data'));
      await rename(path.join(aside, 'data'), template).catch(() => {}); // another process was faster; its template is used
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  }
  await copyFor(account, template, data);
}

async function removeOldTemplates(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const folder = path.join(cache, name);
    const isOld = async () => Date.now() - (await stat(folder)).mtimeMs > 3_600_000;
    if (name.startsWith(templateName) && (await isOld())) await rm(folder, { recursive: true, force: true });
  }
}

/** The account of the server may have no access to `data`, so it works in a separate folder. */
async function makeTemplate(binaries: Binaries, account: Account, data: string): Promise<void> {
  const folder = await serverFolder(account);
  const made = path.join(folder, 'data');
  let server: ChildProcess | undefined;
  try {
    const reachable = await reachableBinaries(binaries, account, folder);
    await createCluster(reachable, account, made, { durable: false });
    server = await launch(reachable, account, folder);
    await withSuperuser(folder, databaseName, ensureRole);
    const connection = { host: folder, port: 5432, user: serviceRole, database: databaseName, ssl: false } as const;
    const pool = openPool({ connection, applicationName: 'test' });
    await migrate(pool).finally(() => pool.end());
    await endCleanly(made);
    await copyFor(account, made, data);
  } finally {
    if (server === undefined) await rm(folder, { recursive: true, force: true });
    else server.stdin?.end();
  }
}

/** A copy of a server that was stopped at once would have to recover at each start. */
async function endCleanly(data: string): Promise<void> {
  const file = path.join(data, 'postmaster.pid');
  process.kill(Number.parseInt(await readFile(file, 'utf8'), 10), 'SIGINT');
  while (await access(file).then(isDone, isRefused)) await delay(10);
}

async function copyFor(account: Account, from: string, to: string): Promise<void> {
  const copied = await runAs(self, 'cp', ['-R', from, to]);
  if (copied.code !== 0) throw new Error(`copying the test cluster failed: ${copied.output}`);
  if (account.kind !== 'user') return;
  const owned = await runAs(self, 'chown', ['-R', `${account.uid}:${account.gid}`, to]);
  if (owned.code !== 0) throw new Error(`copying the test cluster failed: ${owned.output}`);
}

/** None if the packages belong to another user, who could not remove our files. */
async function cacheFolder(): Promise<string | undefined> {
  const packages = fileURLToPath(import.meta.resolve('../../node_modules'));
  if ((await stat(packages)).uid !== process.getuid?.()) return undefined;
  const cache = path.join(packages, '.cache', 'innbound');
  await mkdir(cache, { recursive: true });
  return cache;
}

const isDone = () => true;
const isRefused = () => false;
