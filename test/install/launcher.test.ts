import assert from 'node:assert/strict';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { clone, run, says, start, type Told } from './clone.ts';

test('the launcher works through links, from a path with spaces, and from any folder', async (t) => {
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
    assert.equal((await killed.ended).signal, 'SIGHUP', 'it ends with the same signal');
  });
}
