import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const text = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const glossary = text('docs/glossary.md');
const defined = [...text('src/terms.ts').matchAll(/^ \* ([a-z]+(?: [a-z]+)?) {2,}(\S.+)$/gm)].map(
  ([, term = '', definition = '']) => ({ term, definition }),
);
const entries = new Map(
  [...glossary.matchAll(/^- \*\*([^*]+)\*\* (•)?\s*([\s\S]+?)(?=\n- |\n\n|$(?![\s\S]))/gm)].map(
    ([, term = '', shared, entry = '']) => [
      term,
      { shared: shared !== undefined, entry: entry.replaceAll(/\s+/g, ' ') },
    ],
  ),
);

test('the glossary defines the terms of src/terms.ts in the same words', () => {
  assert.ok(defined.length > 10, 'src/terms.ts has a glossary at its top');
  for (const { term, definition } of defined) {
    const entry = entries.get(term)?.entry.toLowerCase() ?? '(no entry)';
    assert.ok(entry.startsWith(`${definition.toLowerCase()}.`), `${term}: ${entry}`);
  }
});

test('no term is marked as defined in src/terms.ts that is not', () => {
  const marked = [...entries].filter(([, { shared }]) => shared).map(([term]) => term);
  assert.deepEqual(marked.toSorted(), defined.map(({ term }) => term).toSorted());
});
