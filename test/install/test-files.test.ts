import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { makeSuiteFolder, removeSuiteFolder } from '../../scripts/suite-folder.ts';
import { alone as aloneInPlan, planTests, writeShared } from '../../scripts/test-files.ts';

const root = path.join(import.meta.dirname, '..', '..');
const plan = planTests(root);
const shared = [...plan.shared.values()].flat();

test('the suite runs every test file once', (t) => {
  assert.deepEqual([...plan.alone, ...shared].sort(), globSync('test/**/*.test.ts', { cwd: root }).sort());
  const folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-plan-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const given = writeShared(root, plan, folder);
  const imports = given
    .filter((file) => path.isAbsolute(file))
    .flatMap((file) => readFileSync(file, 'utf8').match(/.+/g));
  assert.equal(new Set(imports).size, shared.length);
  assert.equal(given.filter((file) => !path.isAbsolute(file)).length, plan.alone.length);
});

test('every name in the plan is a folder or a file', () => {
  for (const each of aloneInPlan) {
    const place = path.join(root, 'test', each);
    assert.ok(existsSync(place) || existsSync(`${place}.test.ts`), each);
  }
});

test('files that share a process leave its environment as it is', () => {
  const change = /process\.env\.\w+ = |delete process\.env|Object\.assign\(process\.env|process\.chdir\(/;
  assert.deepEqual(
    shared.filter((file) => change.test(readFileSync(path.join(root, file), 'utf8'))),
    [],
  );
});

test('files that share a process have hooks around their own tests only', () => {
  // At the top of a file, these hooks would run around every test of the group.
  assert.deepEqual(
    shared.filter((file) => /^(?:beforeEach|afterEach)\(/m.test(readFileSync(path.join(root, file), 'utf8'))),
    [],
  );
});

test('a run writes into one folder and removes it, and removes the folders of killed runs', async (t) => {
  const ended = spawn(process.execPath, ['-e', '']);
  await once(ended, 'close');
  const first = makeSuiteFolder();
  t.after(() => removeSuiteFolder(first));
  const abandoned = mkdtempSync(path.join(path.dirname(first), `inn-${ended.pid}-`));

  const second = makeSuiteFolder();
  assert.equal(existsSync(first), true);
  assert.equal(existsSync(abandoned), false);
  writeFileSync(path.join(second, 'left.txt'), '');
  removeSuiteFolder(second);
  assert.equal(existsSync(second), false);
});
