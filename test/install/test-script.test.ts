import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { writePlan } from '../../scripts/test-files.ts';

const root = path.join(import.meta.dirname, '..', '..');
const script = path.join(root, 'scripts', 'test');

async function run(args: readonly string[], cwd: string): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(script, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, out, err };
}

test("runs only the named tests, exits with their result, and prints Node's summary last", async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-script-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'good.test.mjs'), `import { test } from 'node:test'; test('holds', () => {});`);
  await writeFile(
    path.join(folder, 'bad.test.mjs'),
    `import { test } from 'node:test'; test('breaks', () => { throw new Error('x'); });`,
  );

  const good = await run(['good.test.mjs'], folder);
  assert.equal(good.code, 0, good.out);
  assert.match(good.out, /ℹ tests 1\n(ℹ .*\n)*ℹ duration_ms [\d.]+\n$/);
  assert.doesNotMatch(good.out, /types/);

  const both = await run(['good.test.mjs', path.join(folder, 'bad.test.mjs')], folder);
  assert.equal(both.code, 1);
  assert.match(both.out, /ℹ pass 1\nℹ fail 1\n/);
});

test('an error that no test awaits fails the run and is printed with its stack', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-script-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const strays = [
    ['thrown', `setTimeout(() => { throw new Error('stray') }, 1)`],
    ['rejected', `void Promise.reject(new Error('stray'))`],
  ] as const;
  for (const [name, stray] of strays) {
    const file = path.join(folder, `${name}.test.mjs`);
    const wait = 'await new Promise((end) => setTimeout(end, 50))';
    await writeFile(
      file,
      `import { test } from 'node:test'; test('leaves an error', async () => { ${stray}; ${wait}; });`,
    );
    const { code, out } = await run([file], folder);
    assert.equal(code, 1, name);
    assert.ok(out.includes(`Error: stray\n    at `) && out.includes(`${name}.test.mjs:1`), out);
  }
});

test('each file of a process is a suite: its hooks run around its own tests only', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-suites-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const files = ['one', 'two'].map((name) => path.join(folder, `${name}.test.ts`));
  for (const file of files) {
    const say = (what: string) => `() => console.log('${what} ${path.basename(file, '.test.ts')}')`;
    const suite = `describe('suite', () => { before(${say('inner')}); test('in it', ${say('test')}); });`;
    const hooks = `before(${say('before')}); beforeEach(${say('each')}); after(${say('after')});`;
    await writeFile(file, `import { after, before, beforeEach, describe, test } from 'node:test';\n${hooks}\n${suite}`);
  }
  const plan = new Map([['both', files.map((file) => path.relative(root, file))]]);
  const preloaded = ['untraced', 'file-suites'].map((name) => `--import=${path.join(root, 'scripts', `${name}.ts`)}`);
  const child = spawn(process.execPath, ['--test', ...preloaded, ...writePlan(root, plan, folder)], {
    env: { PATH: process.env.PATH, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await text(child.stdout);
  const wanted = ['one', 'two'].flatMap((name) =>
    ['before', 'inner', 'each', 'test', 'after'].map((what) => `${what} ${name}`),
  );
  assert.deepEqual(said.match(/^\w+ (?:one|two)$/gm), wanted, said);
  assert.match(said, /tests 2\n/);
});

test('an unknown option is not treated as a test file', async () => {
  const { code, err } = await run(['--sutie'], '/');
  assert.equal(code, 2);
  assert.match(err, /^Usage: scripts\/test/);
});
