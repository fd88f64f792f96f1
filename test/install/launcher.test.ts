import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';

/**
 * bin/innbound on a clone of its own, in which npm is a script that counts its calls and "installs" the Node at hand, and
 * src/main.ts says what it was started as.
 */
const repository = path.join(import.meta.dirname, '..', '..');

const main = `
  const [command, value] = process.argv.slice(2);
  if (command === 'exit') process.exit(Number(value));
  if (command === 'wait') process.on('SIGTERM', () => process.exit(7)).on('SIGUSR2', () => process.exit(8));
  if (command === 'wait') setInterval(() => {}, 1000);
  console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2), node: process.argv0, flags: process.execArgv }));
`;

const npm = `#!/bin/sh
echo "$*" >>calls
echo 'npm speaks'
while [ -e ../hold ]; do sleep 0.02; done
[ -e ../broken ] && { echo 'npm error the network is down' >&2; exit 3; }
[ -e ../unsynced ] && [ "$1" = ci ] && { echo 'npm error code EUSAGE' >&2; exit 1; }
mkdir -p node_modules/.bin
ln -sf '${process.execPath}' node_modules/.bin/node
`;

interface Clone {
  readonly root: string;
  readonly launcher: string;
  readonly env: NodeJS.ProcessEnv;
  /** How often npm ci ran. */
  installs(): number;
}

async function clone(t: TestContext, name = 'clone'): Promise<Clone> {
  const above = await mkdtemp(path.join(os.tmpdir(), 'innbound-launch-'));
  t.after(() => rm(above, { recursive: true, force: true }));
  const root = path.join(above, name);
  await cp(path.join(repository, 'bin'), path.join(root, 'bin'), { recursive: true });
  for (const script of ['prepare', 'prepare.cjs']) {
    await cp(path.join(repository, 'scripts', script), path.join(root, 'scripts', script));
  }
  await mkdir(path.join(root, 'src'));
  await mkdir(path.join(above, 'path'));
  await writeFile(path.join(root, 'src', 'main.ts'), main);
  await writeFile(path.join(root, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(root, 'package-lock.json'), '{ "version": 1 }');
  await writeFile(path.join(above, 'path', 'npm'), npm);
  await chmod(path.join(above, 'path', 'npm'), 0o755);
  await symlink(process.execPath, path.join(above, 'path', 'node'));
  return {
    root,
    launcher: path.join(root, 'bin', 'innbound'),
    env: { PATH: `${path.join(above, 'path')}:/usr/bin:/bin` },
    installs: () =>
      read(path.join(root, 'calls'))
        .split('\n')
        .filter((line) => line.startsWith('ci ')).length,
  };
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

function start(file: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd = '/') {
  const child = spawn(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], out, err]): Ended => ({ code, signal, out, err }),
  );
  return { child, ended };
}

const run = (file: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string) =>
  start(file, args, env, cwd).ended;

interface Told {
  readonly pid: number;
  readonly args: string[];
  readonly flags: string[];
}

test('on a bare clone it installs once, quietly, and is gone: the process is Innbound itself', async (t) => {
  const { root, launcher, env, installs } = await clone(t);
  const first = start(launcher, ['demo', 'a b', '--x=*'], env);
  const { code, out, err } = await first.ended;
  assert.equal(code, 0, err);
  const told = JSON.parse(out) as Told;
  assert.equal(told.pid, first.child.pid, 'exec, so that kill -9 meets the service');
  assert.deepEqual(told.args, ['demo', 'a b', '--x=*']);
  assert.match(
    err,
    /^innbound: installing packages, once \(npm ci\) \.\.\.\n$/,
    'said on stderr: stdout is the command',
  );

  const second = await run(launcher, [], env);
  assert.equal(second.err, '');
  assert.equal(installs(), 1);
  assert.ok(!(await readdir(root)).includes('.innbound'), 'no lock is left');
});

test('a changed lockfile, or a node_modules made for another system, is installed anew', async (t) => {
  const { root, launcher, env, installs } = await clone(t);
  await run(launcher, [], env);
  await writeFile(path.join(root, 'package-lock.json'), '{ "version": 2 }');
  assert.equal((await run(launcher, [], env)).code, 0);
  assert.equal(installs(), 2);

  const stamp = path.join(root, 'node_modules', '.innbound-stamp');
  await writeFile(stamp, readFileSync(stamp, 'utf8').replace(/^\w+/, 'Darwin'));
  assert.equal((await run(launcher, [], env)).code, 0);
  assert.equal(installs(), 3);
  assert.equal((await run(launcher, [], env)).code, 0);
  assert.equal(installs(), 3);
});

test('packages that were installed by hand are taken as they are, if they are those of the lockfile', async (t) => {
  const { root, launcher, env, installs } = await clone(t);
  const lockfile = (packages: object) => JSON.stringify({ packages });
  const wanted = { '': {}, a: { version: '1.0.0' }, b: { version: '2.0.0', optional: true } };
  await mkdir(path.join(root, 'node_modules', '.bin'), { recursive: true });
  await symlink(process.execPath, path.join(root, 'node_modules', '.bin', 'node'));
  await writeFile(path.join(root, 'package-lock.json'), lockfile(wanted));
  await writeFile(path.join(root, 'node_modules', '.package-lock.json'), lockfile({ a: { version: '1.0.0' } }));
  assert.equal((await run(launcher, [], env)).code, 0);
  assert.equal(installs(), 0);

  for (const [at, changed] of [
    { ...wanted, a: { version: '1.0.1' } },
    { ...wanted, c: { version: '1.0.0' } },
    { '': {}, b: wanted.b },
  ].entries()) {
    await writeFile(path.join(root, 'package-lock.json'), lockfile(changed));
    assert.equal((await run(launcher, [], env)).code, 0);
    assert.equal(installs(), at + 1);
  }
});

test('a lockfile that npm ci finds incomplete is installed all the same, and not changed', async (t) => {
  const { root, launcher, env } = await clone(t);
  await writeFile(path.join(root, '..', 'unsynced'), '');
  const { code, err } = await run(launcher, [], env);
  assert.equal(code, 0, err);
  const calls = readFileSync(path.join(root, 'calls'), 'utf8').split('\n');
  assert.match(calls[0] ?? '', /^ci /);
  assert.match(calls[1] ?? '', /^install --no-save /);
});

test('of two first starts one installs and the other waits for it', async (t) => {
  const { root, launcher, env, installs } = await clone(t);
  const hold = path.join(root, '..', 'hold');
  await writeFile(hold, '');
  const both = [start(launcher, [], env), start(launcher, [], env)];
  await Promise.any(both.map(({ child }) => says(child, 'waiting for another start')));
  await rm(hold);
  for (const { code, err } of await Promise.all(both.map(({ ended }) => ended))) assert.equal(code, 0, err);
  assert.equal(installs(), 1);
});

test('the lock of a start that was killed is not waited for', async (t) => {
  const { root, launcher, env, installs } = await clone(t);
  const gone = spawn('true');
  await once(gone, 'close');
  await mkdir(path.join(root, '.innbound', 'installing'), { recursive: true });
  await writeFile(path.join(root, '.innbound', 'installing', 'pid'), String(gone.pid));
  assert.equal((await run(launcher, [], env)).code, 0);
  assert.equal(installs(), 1);
});

test('an installation that fails says what to do next, and the next start tries again', async (t) => {
  const { root, launcher, env } = await clone(t);
  const broken = path.join(root, '..', 'broken');
  await writeFile(broken, '');
  const failed = await run(launcher, [], env);
  assert.equal(failed.code, 1);
  assert.equal(failed.out, '');
  assert.match(failed.err, /npm error the network is down\n.*npm ended with exit code 3\./);
  assert.ok(failed.err.includes(`next: run npm ci in ${root}`));
  await rm(broken);
  assert.equal((await run(launcher, [], env)).code, 0);
});

test('without npm, or without any Node, it says so', async (t) => {
  const { root, launcher, env } = await clone(t);
  await rm(path.join(root, '..', 'path', 'npm'));
  const tools = path.join(root, '..', 'tools');
  await mkdir(tools);
  for (const tool of ['sh', 'cat', 'cmp', 'uname', 'dirname', 'readlink'])
    await symlink(`/usr/bin/${tool}`, path.join(tools, tool));
  const noNpm = await run(launcher, [], { PATH: `${path.join(root, '..', 'path')}:${tools}` });
  assert.equal(noNpm.code, 1);
  assert.match(noNpm.err, /npm was not found/);
  const noNode = await run(launcher, [], { ...env, PATH: tools });
  assert.equal(noNode.code, 1);
  assert.match(noNode.err, /Install Node 20 or later/);
});

test('it is found through links, from a path with spaces, from anywhere', async (t) => {
  const { root, launcher, env } = await clone(t, "a clone's folder");
  const links = path.join(root, '..', 'some links');
  await mkdir(links);
  await symlink(launcher, path.join(links, 'absolute'));
  await symlink('absolute', path.join(links, 'relative'));
  for (const [file, cwd] of [
    [launcher, '/'],
    [path.join(links, 'relative'), '/'],
    ['./innbound', path.join(root, 'bin')],
    ['./relative', links],
  ] as const) {
    const { code, err } = await run(file, [], env, cwd);
    assert.equal(code, 0, `${file}: ${err}`);
    const underNode = await run(process.execPath, [file], env, cwd);
    assert.equal(underNode.code, 0, `node ${file}: ${underNode.err}`);
  }
});

/** Node 20 cannot replace itself by another program. */
const withoutExecve = ['--import', 'data:text/javascript,process.execve=undefined'];

for (const [how, options] of [
  ['node bin/innbound', []],
  ['node bin/innbound where Node cannot exec', withoutExecve],
] as const) {
  test(`${how}: arguments, exit code and signals pass through`, async (t) => {
    const { launcher, env, installs } = await clone(t);
    const { out, err } = await run(process.execPath, [...options, launcher, 'x', 'y z'], env);
    assert.deepEqual((JSON.parse(out) as Told).args, ['x', 'y z'], err);
    assert.equal(installs(), 1);
    assert.equal((await run(process.execPath, [...options, launcher, 'exit', '5'], env)).code, 5);
    for (const [signal, code] of [
      ['SIGTERM', 7],
      ['SIGUSR2', 8],
    ] as const) {
      const waiting = start(process.execPath, [...options, launcher, 'wait'], env);
      await says(waiting.child, 'pid', 'stdout');
      waiting.child.kill(signal);
      assert.equal((await waiting.ended).code, code, signal);
    }
    const killed = start(process.execPath, [...options, launcher, 'wait'], env);
    await says(killed.child, 'pid', 'stdout');
    killed.child.kill('SIGHUP');
    assert.equal((await killed.ended).signal, 'SIGHUP', 'ended by a signal, it ends by the same');
  });
}

function says(child: ChildProcess, what: string, where: 'stdout' | 'stderr' = 'stderr'): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let heard = '';
  child[where]?.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
    if (heard.includes(what)) resolve();
  });
  child.on('close', () => reject(new Error(`ended without saying ${what}: ${heard}`)));
  return promise;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
