import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indented, parseJson, rawNumber } from '../../src/kit/json.ts';

test('a number that a double cannot hold comes in as its text', () => {
  assert.deepEqual(parseJson('[12345678901234567890, 0.1, 123456789012345678.91, 1e3, 100000000000000000000]'), [
    '12345678901234567890',
    0.1,
    '123456789012345678.91',
    1000,
    100000000000000000000,
  ]);
});

test('a text goes out as a number with its digits', () => {
  assert.equal(JSON.stringify({ a: rawNumber('0.10') }), '{"a":0.10}');
});

test('what is laid out for a person keeps every digit', () => {
  assert.equal(
    indented('{"total":123456789012345678.91,"of":[0.10,"a"]}'),
    '{\n  "total": 123456789012345678.91,\n  "of": [\n    0.10,\n    "a"\n  ]\n}',
  );
});
