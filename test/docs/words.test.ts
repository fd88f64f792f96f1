import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
const mostLines = 120;

test('a page that people write is about one thing, so it is not long', () => {
  const pages = ['*.md', 'docs/**/*.md', 'packages/*/README.md']
    .flatMap((pattern) => globSync(pattern, { cwd: root.pathname }))
    .filter((page) => page !== 'CHANGELOG.md')
    .map((page) => ({ page, text: readFileSync(new URL(page, root), 'utf8') }))
    // Pages that scripts make from the code, each compared by a test with what it is made from.
    .filter(({ text }) => !text.startsWith('<!-- Written'));
  assert.ok(pages.length > 50, 'the pages were found');
  const long = pages.flatMap(({ page, text }) => {
    const lines = text.split('\n').length - 1;
    return lines > mostLines ? [`${page}: ${lines} lines`] : [];
  });
  assert.deepEqual(long, []);
});
