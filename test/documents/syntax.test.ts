import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../../src/core/documents/check.ts';
import { inALine } from './case-files.ts';

function mistakes(text: string): string[] {
  const result = parseDocument(text, 'destinations/a.yaml', 'destination');
  return result.kind === 'ok' ? [] : result.mistakes.map(inALine);
}

const sound = 'destination: a\ntype: files\npath: d\n';

test('every YAML error of a file is reported with its place', () => {
  assert.deepEqual(
    mistakes(`${sound}drop: [a\nconsent: "none\n`).map((line) => line.split(' ')[0]),
    ['5:1', '6:1'],
  );
});

test('an error inside braces is reported once, not for everything that follows', () => {
  const broken = `${sound}fields: { a: b['c'] }\nconsent: none\nreceives: [guest]\n`;
  const told = mistakes(broken);
  assert.ok(told.length >= 1 && told.length <= 4, told.join('\n'));
  assert.ok(
    told.every((line) => line.startsWith('4:') || line.startsWith('5:')),
    told.join('\n'),
  );
});

test('a key given twice is a mistake, at the second', () => {
  assert.deepEqual(mistakes(`${sound}path: e\n`), [
    '4:1 path: the key path is already set on line 3; remove one of the two',
  ]);
});

test('a file full of errors is not reported line by line', () => {
  assert.equal(mistakes(sound + 'path: e\n'.repeat(500)).length, 20);
});

test('a key is text', () => {
  assert.deepEqual(mistakes(`${sound}? [a, b]\n: c\n`), ['4:3 : YAML: A key must be text']);
});

test('one file is one document', () => {
  assert.match(mistakes(`${sound}---\n${sound}`).join(), /^4:1 : YAML: .*multiple documents/);
});

test('a tag that would build something is refused', () => {
  assert.match(mistakes(`${sound}filter: !!js/function "x"\n`).join(), /^4:9 : YAML: Unresolved tag/);
});

test('a bomb of aliases is refused', () => {
  const layers = Array.from({ length: 12 }, (_, i) => `k${i}: &a${i} [${`*a${i - 1}, `.repeat(i === 0 ? 0 : 10)}x]`);
  assert.deepEqual(mistakes(`${sound}${layers.join('\n')}\n`), [
    '1:1 : the document repeats aliases (*name) too often, or nests too deeply',
  ]);
});

test('endless nesting and endless length are refused', () => {
  assert.deepEqual(mistakes(`${sound}drop: ${'['.repeat(20_000)}`), ['1:1 : the document is nested too deeply']);
  for (const levels of [101, 2_000, 20_000]) {
    const found = mistakes(`${sound}drop: ${'['.repeat(levels)}${']'.repeat(levels)}\n`);
    assert.equal(found.length, 1, found.join('\n'));
    assert.match(found.join(), /nest/);
  }
  assert.deepEqual(mistakes(`# ${'x'.repeat(1024 * 1024)}`), ['1:1 : the document exceeds the limit of 1 MiB']);
});

test('a document that is not a mapping is refused', () => {
  assert.deepEqual(mistakes('# only a comment\n'), ['1:1 : the document is empty']);
  assert.deepEqual(mistakes('- a\n'), ['1:1 : the document must be a mapping of keys to values']);
  assert.deepEqual(mistakes('just words\n'), ['1:1 : the document must be a mapping of keys to values']);
});

test('a byte order mark and Windows line ends do not move positions', () => {
  const text = `\uFEFF${sound}consent: non\n`.replaceAll('\n', '\r\n');
  assert.deepEqual(mistakes(text), ['4:10 consent: must be one of none, marketing; did you mean none?']);
  assert.match(mistakes(`\uFEFFdestination: A\ntype: files\npath: d\n`).join(), /^1:14 /);
});

test('settings of another type are unknown, and what is known is listed', () => {
  assert.match(mistakes(`${sound}url: x\n`).join(), /^4:1 url: unknown key url; known here: .*path.*receives/);
});

test('a tab is one mistake', () => {
  assert.deepEqual(mistakes('destination: a\ntype: files\n\tpath: d\n\tformat: x\n\tdrop: [\n'), [
    '3:1 : YAML: Tabs are not allowed as indentation',
  ]);
});

test('a placeholder without quotes is named as such, and is the only mistake', () => {
  assert.deepEqual(mistakes('destination: a\ntype: http\nurl: {with.base}/x\n'), [
    '3:6 url: put the text in quotes: without them YAML reads {with.base} as a mapping',
  ]);
  assert.deepEqual(
    mistakes('destination: a\ntype: http\nurl: https://x.example\nbody: { email: {guest.email}, a: { b: c } }\n'),
    ['4:16 body.email: put the text in quotes: without them YAML reads {guest.email} as a mapping'],
  );
});
