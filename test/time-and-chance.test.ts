import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** Time and randomness are arguments on the path of the data, so that a failure can be repeated from a seed. */
const own = /\b(?:Date\.now\(|Math\.random\b|performance\.now\(|new Date\(\)|setTimeout\(|setInterval\()/g;
const rooms = [
  'core/intake',
  'core/deliver',
  'operator/watch',
  'operator/privacy',
  'operator/operations',
  'core/store',
  'core/shape',
  'core/normalize',
  'core/transform',
  'core/reconcile',
  'operator/store',
];
const src = path.join(path.dirname(import.meta.dirname), 'src');

/** Each use in the code of a folder, as `file: use`. Comments do not count. */
const usesIn = (folder: string, ending: string, use: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .flatMap((file) => {
      const code = readFileSync(path.join(folder, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return [...code.matchAll(use)].map(([found]) => `${file}: ${found}`);
    });

test('the path of the data uses the injected clock and randomness only', () => {
  const found = rooms.flatMap((room) => usesIn(path.join(src, room), '.ts', own));
  assert.deepEqual(found, []);
});

/** A machine that is busy or has another processor makes a measured time wrong: tests count reads, calls or rows instead. */
const measured = /performance\.|[cC]puUsage\(|\bhrtime\b|Date\.now\(\) - \w+ [<>]/g;

test('no test measures time', () => {
  assert.deepEqual(usesIn(import.meta.dirname, '.test.ts', measured), []);
});
