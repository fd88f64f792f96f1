import assert from 'node:assert/strict';
import { globSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { planTests, writeShared } from '../../scripts/test-files.ts';

const root = path.join(import.meta.dirname, '..', '..');
const plan = planTests(root);
const shared = [...plan.shared.values()].flat();

test('the suite runs every test file once', () => {
  assert.deepEqual([...plan.alone, ...shared].sort(), globSync('test/**/*.test.ts', { cwd: root }).sort());
  const written = writeShared(root, plan);
  try {
    const imports = written.files.flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'));
    assert.equal(new Set(imports).size, shared.length);
  } finally {
    rmSync(written.folder, { recursive: true });
  }
});

test('files that share a process leave its environment as it is', () => {
  const change = /process\.env\.\w+ = |delete process\.env|Object\.assign\(process\.env|process\.chdir\(/;
  assert.deepEqual(
    shared.filter((file) => change.test(readFileSync(path.join(root, file), 'utf8'))),
    [],
  );
});
