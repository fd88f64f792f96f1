import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import levels from './asvs-levels.json' with { type: 'json' };

/** docs/security/asvs.md against the ids of the standard (levels 1 and 2) and against the tests that it names. */

const root = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const page = read('docs/security/asvs.md');
const tested = /^## Tested$(.+?)^## /ms.exec(page)?.[1] ?? '';

test('the page has every requirement of levels 1 and 2, once', () => {
  const ids = Array.from(page.matchAll(/(?<![\d.v])\d+\.\d+\.\d+(?![\d.]*\d)/g), ([id]) => id);
  assert.equal(Object.keys(levels).length, 253);
  // The version of the standard itself.
  assert.deepEqual(ids.filter((id) => id !== '5.0.0').toSorted(), Object.keys(levels).toSorted());
});

/** The titles of the tests in a file; of a title that ends with a value, also its beginning. */
const titlesIn = (file: string) =>
  Array.from(read(file).matchAll(/^ *test\(\s*(['"`])((?:(?!\1).)*)/gm), ([, , title = '']) => title).flatMap(
    (title) => [title, title.replace(/\$\{.*$/, '').trim()],
  );

test('every row of what is tested names tests by their titles, and each exists', () => {
  const missing: string[] = [];
  for (const [row, ids] of tested.matchAll(/^\| (\d[\d., ]+) \|.*$/gm)) {
    const named = [...row.matchAll(/(test\/[\w/-]+\.test\.ts) “([^”]+)”/g)];
    if (named.length === 0) missing.push(`${ids} names no test`);
    for (const [, file = '', title = ''] of named) {
      if (!existsSync(path.join(root, file)) || !titlesIn(file).includes(title)) missing.push(`${file} “${title}”`);
    }
  }
  assert.deepEqual(missing, []);
});

test('every file that the page names exists', () => {
  for (const [file] of page.matchAll(/test\/[\w/-]+\.test\.ts/g)) assert.ok(existsSync(path.join(root, file)), file);
});
