import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

test('every mechanism that is kept has a number, and its code names it', () => {
  const kept = read('bench/mechanisms.md').split('## Kept')[1] ?? '';
  const numbers = [...kept.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
  assert.ok(numbers.length > 5);
  const named = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/bench\/mechanisms\.md, (\d+)/g)].map(([, number]) => Number(number)),
  );
  assert.deepEqual(
    [...new Set(named)].toSorted((a, b) => a - b),
    numbers,
  );
});
