import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
const mostLines = 120;

/** Pages that scripts make from the code begin with a comment; each is compared by a test with what it is made from. */
const pages = ['*.md', 'docs/**/*.md', 'packages/*/README.md']
  .flatMap((pattern) => globSync(pattern, { cwd: root.pathname }))
  .filter((page) => page !== 'CHANGELOG.md')
  .map((page) => ({ page, text: readFileSync(new URL(page, root), 'utf8') }))
  .filter(({ text }) => !text.startsWith('<!-- Written'));

test('a page that people write is about one thing, so it is not long', () => {
  assert.ok(pages.length > 50, 'the pages were found');
  const long = pages.flatMap(({ page, text }) => {
    const lines = text.split('\n').length - 1;
    return lines > mostLines ? [`${page}: ${lines} lines`] : [];
  });
  assert.deepEqual(long, []);
});

test('a page says in its first sentence what it is about, before any list, table or example', () => {
  const silent = pages
    .filter(({ page }) => page.startsWith('docs/') && !page.startsWith('docs/adr/'))
    .filter(({ text }) => !/^# .+\n\n[A-Z`*[][^\n]*\w/.test(text) || /^# .+\n\n\*\*1\./.test(text));
  assert.deepEqual(
    silent.map(({ page }) => page),
    [],
  );
});
