import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readLongXml, readXml, writeXml } from '../../src/kit/xml.ts';

const read = (text: string) => readXml(Buffer.from(text));

test('elements, attributes, text, repeated and empty elements; prefixes and comments are left out', () => {
  const text = `<?xml version="1.0" encoding="utf-8"?><!-- c --><s:E xmlns:s="u" s:n="1"><A>x &amp; &#225;</A><A b='2'> y </A><C/><D><![CDATA[<&]]></D></s:E>`;
  assert.deepEqual(read(text), { E: { '@n': '1', A: ['x & á', { '@b': '2', '#text': 'y' }], C: null, D: '<&' } });
});

const name = fc.stringMatching(/^[A-Z][a-z]{0,3}$/);
const word = fc.stringMatching(/^[!-~]([ -~]{0,8}[!-~])?$/);
const { node } = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    word,
    fc.constant(null),
    fc.dictionary(name, fc.oneof(tie('node'), fc.array(word, { minLength: 2, maxLength: 3 })), {
      minKeys: 1,
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
}));

test('what is written is read back, whole or in parts', async () => {
  await fc.assert(
    fc.asyncProperty(name, node, async (root, value) => {
      const body = { [root]: value } as Parameters<typeof writeXml>[0];
      const bytes = Buffer.from(writeXml(body));
      assert.deepEqual(readXml(bytes), body);
      assert.deepEqual(await readLongXml(bytes), body);
    }),
  );
});

test('a character that XML cannot contain is not written, and signs are escaped', () => {
  assert.equal(
    writeXml({ a: { '@b': '"<', '#text': 'x\u0000&>' } }).split('\n')[1],
    '<a b="&quot;&lt;">x&amp;&gt;</a>',
  );
});

test('a long document is read in parts, with signs and characters across their ends', async () => {
  const rows = '<r>ü&amp;💡</r>'.repeat(60_000);
  const body = (await readLongXml(Buffer.from(`<l>${rows}</l>`))) as { l: { r: string[] } };
  assert.equal(body.l.r.length, 60_000);
  assert.ok(body.l.r.every((one) => one === 'ü&💡'));
});

const bombs: Readonly<Record<string, string>> = {
  'billion laughs': '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>',
  'external entity': '<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><l>&x;</l>',
  'external subset': '<!DOCTYPE l SYSTEM "http://127.0.0.1/l.dtd"><l/>',
  'entity of nobody': '<l>&x;</l>',
  depth: '<a>'.repeat(1_000_000),
  attributes: `<a ${Array.from({ length: 100_000 }, (_, i) => `a${i}="x"`).join(' ')}/>`,
  'one attribute twice': '<a b="1" b="2"/>',
  'prototype key': '<a><__proto__><x>1</x></__proto__></a>',
  'another encoding': '<?xml version="1.0" encoding="ISO-8859-1"?><a/>',
  'cut off': '<a><b>1</b>',
  'two roots': '<a/><b/>',
  json: '{"a":1}',
  html: '<!doctype html><html><body><p>Maintenance<br></body></html>',
  empty: '',
};
for (const [what, text] of Object.entries(bombs))
  test(`refused: ${what}`, () => {
    assert.throws(() => read(text), /^SyntaxError: line 1, column \d+: [a-z -]+$|too deep|UTF-8|64 levels/i);
  });

test('refused: bytes that are not UTF-8', () => {
  assert.throws(() => readXml(Buffer.from([0x3c, 0x61, 0x3e, 0xe1, 0x3c, 0x2f, 0x61, 0x3e])), /UTF-8/);
});
