import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import levels from './asvs-levels.json' with { type: 'json' };

/** docs/security/asvs.md against the ids of the standard (levels 1 and 2) and against the tests and pages that it names. */

const root = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const page = read('docs/security/asvs.md');
const rows = [...page.matchAll(/^\| ([\d., ]+) \| (.+?) \| (\S+) \| (.+) \|$/gm)].flatMap(
  ([, ids = '', , mark = '', evidence = '']) => ids.split(', ').map((id) => ({ id, mark, evidence })),
);
const testsIn = (text: string) =>
  [...text.matchAll(/(test\/[\w/-]+\.test\.ts)(?: “([^”]+)”)?/g)].map(([, file = '', name]) => ({ file, name }));

test('the table has every requirement of levels 1 and 2, once', () => {
  assert.equal(Object.keys(levels).length, 253);
  assert.deepEqual(rows.map(({ id }) => id).toSorted(), Object.keys(levels).toSorted());
});

/** The titles of the tests in a file; of a title that ends with a value, also its beginning. */
const titlesIn = (file: string) =>
  Array.from(read(file).matchAll(/^ *test\(\s*(['"`])((?:(?!\1).)*)/gm), ([, , title = '']) => title).flatMap(
    (title) => [title, title.replace(/\$\{.*$/, '').trim()],
  );

test('every row with the mark yes names the tests that would fail, by their titles, and each exists', () => {
  const missing: string[] = [];
  for (const { id, mark, evidence } of rows) {
    const tests = testsIn(evidence);
    if (mark === 'yes' && tests.length === 0) missing.push(`${id} names no test`);
    for (const { file, name } of tests) {
      if (!existsSync(path.join(root, file))) missing.push(`${id}: ${file}`);
      else if (name === undefined ? mark === 'yes' : !titlesIn(file).includes(name))
        missing.push(`${id}: ${file} “${name}”`);
    }
  }
  assert.deepEqual(missing, []);
});

test('every other mark has a page or a reason', () => {
  for (const { id, mark, evidence } of rows) {
    assert.ok(['yes', 'doc', 'you', 'part', 'n/a'].includes(mark), `${id}: ${mark}`);
    const pages = [...evidence.matchAll(/(?:docs\/[\w/.-]+\.(?:md|json)|SECURITY\.md)/g)].map(([file]) => file);
    if (mark === 'doc' || mark === 'you') assert.ok(pages.length > 0, `${id} names no page`);
    for (const file of pages) assert.ok(existsSync(path.join(root, file)), `${id}: ${file}`);
    if (mark === 'n/a' || mark === 'part') assert.ok(evidence.length > 15, `${id} has no reason`);
  }
});

test('the counts at the top are those of the rows', () => {
  for (const mark of ['yes', 'doc', 'you', 'part', 'n/a']) {
    const [, count] = new RegExp(`^\\| ${mark} \\| .+ \\| (\\d+) \\|$`, 'm').exec(page) ?? [];
    assert.equal(Number(count), rows.filter((row) => row.mark === mark).length, mark);
  }
});
