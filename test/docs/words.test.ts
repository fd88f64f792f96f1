import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

/** Made from code, each compared by a test with what it is made from. */
const generated = ['docs/errors.md', ...['api', 'connectors', 'database'].map((name) => `docs/reference/${name}.md`)];
const mostLines = 450;

test('a page that people write is about one thing, so it is not long', () => {
  const pages = ['*.md', 'docs/**/*.md', 'packages/*/README.md']
    .flatMap((pattern) => globSync(pattern, { cwd: root.pathname }))
    .filter((page) => page !== 'CHANGELOG.md' && !generated.includes(page) && !read(page).startsWith('<!-- Written'));
  assert.ok(pages.length > 50, 'the pages were found');
  const long = pages.flatMap((page) => {
    const lines = read(page).split('\n').length;
    return lines > mostLines ? [`${page}: ${lines} lines`] : [];
  });
  assert.deepEqual(long, []);
});
