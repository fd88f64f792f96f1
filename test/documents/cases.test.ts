import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { parseDocument } from '../../src/documents/check.ts';
import { caseFiles, inALine } from './case-files.ts';

for (const { name, kind, text, expected, expectedFile } of caseFiles()) {
  test(`${name} (${path.relative(import.meta.dirname, expectedFile)})`, () => {
    const result = parseDocument(text, 'case.yaml', kind);
    assert.deepEqual(result.kind === 'ok' ? [] : result.mistakes.map(inALine), expected);
  });
}

test('a case without mistakes says so in its name, and the other way round', () => {
  const wrong = caseFiles().filter(({ name, expected }) => name.includes(': valid ') !== (expected.length === 0));
  assert.deepEqual(wrong, []);
});
