import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { makeSuiteFolder, removeSuiteFolder } from '../../scripts/suite-folder.ts';
import { alone, beforeRelease, planTests, recorded, writePlan } from '../../scripts/test-files.ts';

const root = path.join(import.meta.dirname, '..', '..');
const plan = planTests(root);
const shared = [...plan.values()].filter((files) => files.length > 1).flat();

test('the suite runs every test file once, except the one for before a release', (t) => {
  const all = globSync('test/**/*.test.ts', { cwd: root }).sort();
  assert.ok(all.includes(beforeRelease));
  const files = all.filter((file) => file !== beforeRelease);
  assert.deepEqual([...plan.values()].flat().sort(), files);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-plan-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const given = writePlan(root, plan, folder);
  const imports = given.flatMap((file) => readFileSync(file, 'utf8').match(/^import '.+/gm));
  assert.equal(new Set(imports).size, files.length + 1, 'and each process says what it cost');
  assert.deepEqual(given, [...given].sort(), 'as Node sorts them');
});

test('every name in the plan and in the record is a folder, a file or a process', () => {
  for (const each of alone) {
    const place = path.join(root, 'test', each);
    assert.ok(existsSync(place) || existsSync(`${place}.test.ts`), each);
  }
  const known = recorded(root).map(({ name }) => name);
  assert.deepEqual(
    known.filter((name) => !plan.has(name)),
    [],
  );
  assert.ok(known.length > plan.size / 2, 'scripts/test --record writes what each takes');
});

test('files that share a process leave its environment as it is', () => {
  const change = /process\.env\.\w+ = |delete process\.env|Object\.assign\(process\.env|process\.chdir\(/;
  assert.deepEqual(
    shared.filter((file) => change.test(readFileSync(path.join(root, file), 'utf8'))),
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
