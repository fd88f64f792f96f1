import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { clone, run, says, start, type Told } from './clone.ts';

test('on a bare clone it installs once, quietly, and then replaces itself by Innbound', async (t) => {
  const { root, launcher, env, installs } = await clone(t);
  const first = start(launcher, ['demo', 'a b', '--x=*'], env);
  const { code, out, err } = await first.ended;
  assert.equal(code, 0, err);
  const told = JSON.parse(out) as Told;
  assert.equal(told.pid, first.child.pid, 'exec, so that kill -9 reaches the service');
  assert.deepEqual(told.args, ['demo', 'a b', '--x=*']);
  assert.match(
    err,
    /^innbound: installing packages, once \(npm ci\) \.\.\.\n$/,
    'reported on stderr: stdout belongs to the command',
  );

  const second = await run(launcher, [], env);
  assert.equal(second.err, '');
  assert.equal(installs(), 1);
  assert.ok(!(await readdir(root)).includes('.innbound'), 'no lock is left');
});

test('installs again after a change of the lockfile or of the system', async (t) => {
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

test('uses packages installed by hand if they match the lockfile', async (t) => {
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

test('installs a lockfile that npm ci finds incomplete, without changing it', async (t) => {
  const { root, launcher, env } = await clone(t);
  await writeFile(path.join(root, '..', 'unsynced'), '');
  const { code, err } = await run(launcher, [], env);
  assert.equal(code, 0, err);
  const calls = readFileSync(path.join(root, 'calls'), 'utf8').split('\n');
  assert.match(calls[0] ?? '', /^ci /);
  assert.match(calls[1] ?? '', /^install --no-save /);
});

test('of two first starts, one installs and the other waits', async (t) => {
  const { root, launcher, env, installs } = await clone(t);
  const hold = path.join(root, '..', 'hold');
  await writeFile(hold, '');
  const both = [start(launcher, [], env), start(launcher, [], env)];
  await Promise.any(both.map(({ child }) => says(child, 'waiting for another start')));
  await rm(hold);
  for (const { code, err } of await Promise.all(both.map(({ ended }) => ended))) assert.equal(code, 0, err);
  assert.equal(installs(), 1);
});

test('shows that a long installation goes on', async (t) => {
  const { root, launcher, env } = await clone(t);
  const hold = path.join(root, '..', 'hold');
  await writeFile(hold, '');
  const { child, ended } = start(launcher, [], env);
  await says(child, 'still installing');
  await rm(hold);
  const { code, err } = await ended;
  assert.equal(code, 0, err);
});

test('does not wait for the lock of a killed start', async (t) => {
  const { root, launcher, env, installs } = await clone(t);
  const gone = spawn('true');
  await once(gone, 'close');
  await mkdir(path.join(root, '.innbound', 'installing'), { recursive: true });
  await writeFile(path.join(root, '.innbound', 'installing', 'pid'), String(gone.pid));
  assert.equal((await run(launcher, [], env)).code, 0);
  assert.equal(installs(), 1);
});

test('waits for an installation that outlives its killed start', async (t) => {
  const { root, launcher, env, installs } = await clone(t);
  // npm keeps running, as after a SIGTERM that was sent to the launcher alone.
  const npm = spawn('sleep', ['600']);
  const gone = spawn('true');
  await once(gone, 'close');
  await mkdir(path.join(root, '.innbound', 'installing'), { recursive: true });
  await writeFile(path.join(root, '.innbound', 'installing', 'pid'), `${gone.pid}\n${npm.pid}\n`);
  const waiting = start(launcher, [], env);
  await says(waiting.child, 'waiting for another start');
  assert.equal(installs(), 0);
  npm.kill();
  assert.equal((await waiting.ended).code, 0);
  assert.equal(installs(), 1);
});

test('a failed installation says what to do next, and the next start tries again', async (t) => {
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

test('reports a missing npm or a missing Node', async (t) => {
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
