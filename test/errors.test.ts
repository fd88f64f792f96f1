import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errorsDoc, errorsFile, stages } from '../scripts/errors-doc.ts';
import { errors } from '../src/errors.ts';

const documented = readFileSync(errorsFile, 'utf8');

test('every code of the registry is documented, and every documented code is in the registry', () => {
  const headings = [...documented.matchAll(/^### `([^`]+)`$/gm)].map((match) => match[1]);
  assert.deepEqual(headings.toSorted(), Object.keys(errors).toSorted());
});

test('the documentation says what the registry says (scripts/errors-doc.ts writes it)', () => {
  assert.equal(documented, errorsDoc());
});

test('a code begins with its stage', () => {
  for (const code of Object.keys(errors)) assert.ok(Object.hasOwn(stages, code.split('.', 1)[0] ?? ''), code);
});

test('every code is used somewhere', () => {
  const root = new URL('../src/', import.meta.url);
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('errors'))
    .map((file) => readFileSync(new URL(file, root), 'utf8'))
    .join('\n');
  const unused = Object.keys(errors).filter(
    (code) => !sources.includes(`'${code}'`) && !sources.includes(`\`${code}\``),
  );
  assert.deepEqual(unused, []);
});
