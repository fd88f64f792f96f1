import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

const rows = [...read('docs/promises.md').matchAll(/^\| (.+?) \| (test\/.+?) \|$/gm)].map(
  ([, promise = '', tests = '']) => ({
    promise,
    tests: tests.split(', '),
  }),
);

test('every promise of ARCHITECTURE.md and SECURITY.md has tests', () => {
  const invariants = [...read('ARCHITECTURE.md').matchAll(/^\d+\. \*\*(.+?)\.\*\*/gm)].map(
    ([, promise = '']) => promise,
  );
  const section = read('SECURITY.md').split('## What we promise')[1]?.split('\n## ')[0] ?? '';
  const security = [...section.matchAll(/^- (.+)$/gm)].map(([, line = '']) => line);
  assert.ok(invariants.length >= 8 && security.length >= 6);
  for (const invariant of invariants) {
    assert.ok(
      rows.some(({ promise }) => promise === invariant),
      `docs/promises.md lacks: ${invariant}`,
    );
  }
  for (const line of security) {
    assert.ok(
      rows.some(({ promise }) => line.startsWith(promise)),
      `docs/promises.md lacks: ${line}`,
    );
  }
});

test('every test that a promise names exists', () => {
  const missing = rows.flatMap(({ tests }) => tests).filter((file) => !existsSync(path.join(root, file)));
  assert.deepEqual(missing, []);
});
