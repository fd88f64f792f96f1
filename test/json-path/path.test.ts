import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parsePath, pathText } from '../../src/core/json-path/path.ts';
import { loneScope } from '../../src/core/shape/draft.ts';
import { compileRead } from '../../src/core/shape/read.ts';
import type { Json } from '../../src/terms.ts';

const body: Json = {
  a: { b: [{ c: 1 }, { c: 2 }, { c: 3 }] },
  'key with spaces': { 'x.y': 'dot' },
  $id: 'dollar',
  list: [[1, 2], [3]],
  byId: { p: { n: 'P' }, q: { n: 'Q' } },
  nothing: null,
};

function read(text: string): Json | undefined {
  const parsed = parsePath(text);
  assert.ok(parsed.kind === 'ok', `${text}: ${JSON.stringify(parsed)}`);
  return compileRead(parsed.path, false)(loneScope(body));
}

const reads: [string, Json | undefined][] = [
  ['a.b[0].c', 1],
  ['a.b.0.c', 1],
  ['a.b[-1].c', 3],
  ['a.b[7].c', undefined],
  ['a.b[].c', 1],
  ['a.b.*.c', 1],
  ['list[1][0]', 3],
  ["'key with spaces'['x.y']", 'dot'],
  ['["key with spaces"]."x.y"', 'dot'],
  ["'$id'", 'dollar'],
  ['byId[].n', 'P'],
  ['byId.q.n', 'Q'],
  ['nothing.x', undefined],
  ['a.b.c', undefined],
  ['a.b.length', undefined],
  ['$record.a.b[1].c', 2],
  ['$body.byId.p.n', 'P'],
  ['$parent.a', undefined],
];

for (const [text, value] of reads) {
  test(`path ${text}`, () => assert.deepEqual(read(text), value));
}

const mistakes: [text: string, offset: number, message: RegExp][] = [
  ['', 0, /empty/],
  ['a..b', 2, /expected a key/],
  ['a.', 1, /missing after the last dot/],
  ['a b', 1, /expected \. or \[/],
  ['a[1', 2, /expected \]/],
  ['a[x]', 2, /expected a number/],
  ["a.'b", 2, /never closed/],
  ['a.b]', 3, /expected \. or \[/],
  ['$boddy.x', 0, /unknown start \$boddy/],
  ['$parent.$body.x', 8, /cannot follow/],
  ['$key.x', 4, /nothing can follow/],
  ['$parent.$key.x', 12, /nothing can follow/],
  ['$parent.$record.x', 8, /cannot follow/],
  ['a.__proto__', 2, /not allowed/],
  ['constructor', 0, /not allowed/],
];

for (const [text, offset, message] of mistakes) {
  test(`path ${JSON.stringify(text)} is refused at ${offset}`, () => {
    const parsed = parsePath(text);
    assert.ok(parsed.kind === 'bad', JSON.stringify(parsed));
    assert.match(parsed.message, message);
    assert.equal(parsed.offset, offset);
  });
}

test('a path written as text reads the same value', () => {
  const key = fc
    .oneof(fc.string({ unit: fc.constantFrom('a', '"', "'", '\\', '*', '$', '.', '\n', 'é') }), fc.string())
    .filter((text) => !(text in {}));
  fc.assert(
    fc.property(fc.array(fc.oneof(key, fc.nat(5)), { minLength: 1, maxLength: 5 }), (steps) => {
      let value: Json = 'found';
      for (const step of steps.toReversed()) {
        if (typeof step === 'string') value = { [step]: value };
        else {
          const list: Json[] = new Array(step).fill(null);
          list.push(value);
          value = list;
        }
      }
      const text = steps.reduce<string>((base, step) => pathText(base, step), '');
      const parsed = parsePath(text);
      assert.ok(parsed.kind === 'ok', `${text}: ${JSON.stringify(parsed)}`);
      assert.equal(compileRead(parsed.path, false)(loneScope(value)), 'found');
    }),
  );
});

test('the parser never throws, and every refusal points inside the text', () => {
  const piece = fc.constantFrom('a', '.', '[', ']', '0', '-1', "'", '"', '$', '$body', '$parent', '*', ' ', '[]');
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      (text) => {
        const parsed = parsePath(text);
        if (parsed.kind === 'bad') assert.ok(parsed.offset >= 0 && parsed.offset <= Math.max(0, text.length - 1));
      },
    ),
  );
});
