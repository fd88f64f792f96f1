import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { indented, parseJson, rawNumber } from '../../src/kit/json.ts';

test('a number that a double cannot hold is read as its text', () => {
  assert.deepEqual(parseJson('[12345678901234567890, 0.1, 123456789012345678.91, 1e3, 100000000000000000000]'), [
    '12345678901234567890',
    0.1,
    '123456789012345678.91',
    1000,
    100000000000000000000,
  ]);
});

test('a decimal text is written as a number with all digits', () => {
  assert.equal(JSON.stringify({ a: rawNumber('0.10') }), '{"a":0.10}');
});

test('indented JSON keeps every digit', () => {
  assert.equal(
    indented('{"total":123456789012345678.91,"of":[0.10,"a"]}'),
    '{\n  "total": 123456789012345678.91,\n  "of": [\n    0.10,\n    "a"\n  ]\n}',
  );
});

/** Every place in which JSON allows a number. */
const places: readonly [string, (token: string) => string, (value: unknown) => unknown][] = [
  ['alone', (token) => token, (value) => value],
  ['after spaces', (token) => `\n ${token} `, (value) => value],
  ['first in a list', (token) => `[${token}]`, (value) => (value as unknown[])[0]],
  ['later in a list', (token) => `["a",${token},2]`, (value) => (value as unknown[])[1]],
  ['in an object', (token) => `{"id":${token}}`, (value) => (value as { id: unknown }).id],
  ['in an object with spaces', (token) => `{ "id" :\t${token} }`, (value) => (value as { id: unknown }).id],
];

test('a number that a double cannot hold keeps its digits, wherever it is', () => {
  for (const [where, around, find] of places) {
    for (const token of ['12345678901234567890', '-12345678901234567890', '0.12345678901234567', '1e400']) {
      assert.equal(find(parseJson(around(token))), token, where);
    }
    assert.equal(find(parseJson(around('-412.50'))), -412.5, where);
  }
});

test('property: a number is read as itself or as its text', () => {
  const number = fc.stringMatching(/^-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?$/);
  fc.assert(
    fc.property(number, fc.constantFrom(...places), (token, [, around, find]) => {
      const found = find(parseJson(around(token)));
      if (typeof found === 'string') assert.equal(found, token);
      else assert.equal(BigInt(scaled(String(found))), BigInt(scaled(token)));
    }),
    { numRuns: 1_000 },
  );
});

/** The number times 10 to the 300th: a whole number for all that the property makes. */
function scaled(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return whole + fraction.padEnd(150, '0') + '0'.repeat(150 + Number(exponent));
}

test('digits inside a text are a text', () => {
  const body = '{"id":"4e12-12345678901234567890","note":", 1e5 and 12345678901234567890"}';
  assert.deepEqual(parseJson(body), JSON.parse(body));
});
