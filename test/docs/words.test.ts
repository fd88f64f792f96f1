import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

/** Made from code, each compared by a test with what it is made from. */
const generated = ['docs/errors.md', ...['api', 'connectors', 'database'].map((name) => `docs/reference/${name}.md`)];

test('the pages that people write have at most 43,000 words, and that of a vendor, of which one is read, at most 500', () => {
  const pages = ['*.md', 'docs/**/*.md', 'packages/*/README.md']
    .flatMap((pattern) => globSync(pattern, { cwd: root.pathname }))
    .filter((page) => page !== 'CHANGELOG.md' && !generated.includes(page) && !read(page).startsWith('<!-- Written'));
  const words = pages.map((page) => ({ page, words: read(page).match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0 }));
  const isVendor = ({ page }: (typeof words)[number]) => page.startsWith('docs/guides/destinations/');
  assert.deepEqual(
    words.filter((one) => isVendor(one) && one.words > 500),
    [],
  );
  const total = words.filter((one) => !isVendor(one)).reduce((sum, each) => sum + each.words, 0);
  assert.ok(total <= 43_000, `${total} words: say it once and link to it. ${JSON.stringify(words)}`);
  assert.ok(total > 20_000, 'the pages were found');
});
