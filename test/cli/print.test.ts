import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { type Io, withIo } from '../../src/operator/cli/io.ts';
import { print, type Shown } from '../../src/operator/cli/print.ts';

function printed(answer: object, shown?: Shown, json = false): string {
  let text = '';
  const screen = { write: (more: string) => (text += more) };
  const io: Io = { stdin: Readable.from([]), stdout: screen, stderr: screen, env: {} };
  withIo(io, () => print({ json }, answer, shown));
  return text;
}

const items = [
  { id: 'a', count: 1, at: new Date(0), of: ['x', 'y'], none: null },
  { id: 'bcd', count: 22, at: null, of: [], none: null },
];

test('a list is a table of the named columns, or one object per line', () => {
  assert.equal(
    printed({ items, next_cursor: null }, { columns: ['id', 'count', 'at', 'of'] }),
    'id   count  at                        of\na    1      1970-01-01T00:00:00.000Z  x, y\nbcd  22     -                         none\n',
  );
  assert.equal(printed({ items }, {}, true).split('\n').filter(Boolean).length, 2);
  assert.equal(printed({ items: [] }, { none: 'No letters.' }), 'No letters.\n');
});

test('what a partner sent keeps its names', () => {
  const answer = { id: 'A', raw: { check_in: 'soon' } };
  assert.equal(printed(answer), 'id  A\nraw:\n  {\n    "check_in": "soon"\n  }\n');
});

test('an object is its values, what is absent is left out, and its parts are indented', () => {
  const answer = { run_id: 'r1', error_code: null, windows: [{ from: 'a', rows: 3, diff: [{ path: 'p', after: 1 }] }] };
  assert.equal(
    printed(answer, { next: 'Done.' }),
    'run id  r1\nwindows:\n  from a, rows 3\n    diff:\n      path p, after 1\nDone.\n',
  );
});
