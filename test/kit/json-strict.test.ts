import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson, parseStrictJson, type StrictReason } from '../../src/kit/json.ts';

const parse = (text: string | Buffer, limits?: Parameters<typeof parseStrictJson>[1]) =>
  parseStrictJson(Buffer.from(text as string), limits);
const reason = (text: string | Buffer, limits?: Parameters<typeof parseStrictJson>[1]) => {
  const result = parse(text, limits);
  return result.kind === 'ok' ? 'ok' : result.reason;
};

/** JSON without prototype keys, with texts in Unicode without NUL. */
const key = fc
  .string({ unit: 'grapheme', maxLength: 8 })
  .filter((k) => !['__proto__', 'constructor', 'prototype'].includes(k) && !k.includes('\0'));
const text = fc.string({ unit: 'grapheme' }).filter((t) => !t.includes('\0'));
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    text,
    fc.array(tie('json'), { maxLength: 6 }),
    fc.dictionary(key, tie('json'), { maxKeys: 6 }),
  ),
}));

test('property: sound JSON reads as JSON.parse reads it, in any layout', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const written = JSON.stringify(value, null, space);
      assert.deepEqual(parse(written), { kind: 'ok', value: JSON.parse(written) });
    }),
  );
});

test('property: what JSON.parse refuses is refused, what it takes is at most refused with another reason', () => {
  fc.assert(
    fc.property(json, fc.nat(), fc.string({ minLength: 1, maxLength: 2 }), (value, place, noise) => {
      const written = JSON.stringify(value) ?? '';
      const at = place % (written.length + 1);
      const broken = written.slice(0, at) + noise + written.slice(at);
      let sound = true;
      try {
        JSON.parse(Buffer.from(broken).toString());
      } catch {
        sound = false;
      }
      if (!sound) assert.notEqual(reason(broken), 'ok');
      else assert.notEqual(reason(broken), 'not_json');
    }),
  );
});

test('a long or small malformed number is refused, not read as text', () => {
  for (const text of [
    '5-e-324',
    '1.e5',
    '01234567890123456',
    '1234567890123456789.',
    '-5e-324-',
    '1e5e5',
    '12345678901234567+1',
  ]) {
    assert.equal(reason(text), 'not_json', text);
  }
});

test('property: no bytes make it throw', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void parseStrictJson(Buffer.from(bytes))));
});

test('property: a repeated key is found wherever it is, however it is written', () => {
  fc.assert(
    fc.property(json, key, fc.boolean(), (value, name, escaped) => {
      const plain = JSON.stringify(name);
      const other = escaped
        ? `"${[...name]
            .flatMap((c) => c.split(''))
            .map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
            .join('')}"`
        : plain;
      const twice = `{"outer":[{${plain}:${JSON.stringify(value)},${other}:1}]}`;
      assert.equal(reason(twice), 'duplicate_key');
    }),
  );
});

test('property: numbers keep every digit, as parseJson keeps them', () => {
  const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?$/);
  fc.assert(
    fc.property(digits, fc.boolean(), (number, negative) => {
      const token = `${negative ? '-' : ''}${number}`;
      const result = parse(`[${token}]`);
      assert.equal(result.kind, 'ok');
      const [kept] = (result as { value: unknown }).value as (number | string)[];
      const [expected] = parseJson(`[${token}]`) as (number | string)[];
      // Either may keep a number's text where a double would do; the value is the same.
      if (typeof kept === 'string') assert.equal(kept, token);
      else assert.equal(kept, typeof expected === 'string' ? Number.NaN : expected);
    }),
    { numRuns: 500 },
  );
});

for (const [what, input, expected] of [
  ['a 20-digit id keeps its digits', '[12345678901234567890]', ['12345678901234567890']],
  ['a negative one too', '[-12345678901234567890]', ['-12345678901234567890']],
  ['digits inside a text are not touched', '["12345678901234567890"]', ['12345678901234567890']],
  ['16 digits that a double holds are a number', '[1234567890123456]', [1234567890123456]],
  ['a price is a number', '[412.50]', [412.5]],
  ['zeros do not count', '[0.000000000000000000]', [0]],
  ['an exponent is a number', '[1.5e3]', [1500]],
  ['a number too small for a double keeps its text', '[1e-400]', ['1e-400']],
] as const) {
  test(what, () => assert.deepEqual(parse(input), { kind: 'ok', value: expected }));
}

const small = { maxDepth: 2, maxArrayLength: 3, maxMembers: 2 };
for (const [what, input, expected] of [
  ['depth at the limit', '[[1]]', 'ok'],
  ['depth over the limit', '[[[]]]', 'too_deep'],
  ['brackets in a text are no depth', '["[[[[[["]', 'ok'],
  ['an escaped quote does not end a text', '["\\"[[[[["]', 'ok'],
  ['a list at the limit', '[1,2,3]', 'ok'],
  ['a list over the limit', '[1,2,3,4]', 'array_too_long'],
  ['commas in a text are no items', '["a,b,c,d,e"]', 'ok'],
  ['members at the limit', '{"a":1,"b":2}', 'ok'],
  ['members over the limit', '{"a":1,"b":2,"c":3}', 'too_many_members'],
  ['lists side by side are counted apart', '[[1,2,3],[1,2,3],[1,2,3]]', 'ok'],
] as [string, string, StrictReason | 'ok'][]) {
  test(`limits: ${what}`, () => assert.equal(reason(input, small), expected));
}

test('the result names the place of a mistake, not its content', () => {
  const result = parse('{"secret":"Quill" oops}');
  assert.deepEqual(result, { kind: 'invalid', reason: 'not_json', position: 18 });
});
