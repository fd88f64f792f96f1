import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { parseDocument } from '../../src/core/documents/check.ts';
import { caseFiles, inALine } from './case-files.ts';

/** `…` is the rest of a list of names, so that a new name changes no case. */
const isLike = (line: string, expected: string) =>
  new RegExp(`^${expected.split('…').map(RegExp.escape).join('.+')}$`).test(line);

for (const { name, kind, text, expected, expectedFile } of caseFiles()) {
  test(`${name} (${path.relative(import.meta.dirname, expectedFile)})`, () => {
    const result = parseDocument(text, 'case.yaml', kind);
    const found = result.kind === 'ok' ? [] : result.mistakes.map(inALine);
    assert.deepEqual(
      found.map((line, at) => (isLike(line, expected[at] ?? '') ? expected[at] : line)),
      expected,
    );
  });
}

test('a case without mistakes says so in its name, and the other way round', () => {
  const wrong = caseFiles().filter(({ name, expected }) => name.includes(': valid ') !== (expected.length === 0));
  assert.deepEqual(wrong, []);
});
