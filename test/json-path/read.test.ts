import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathReader, pathWalker } from '../../src/core/json-path/read.ts';
import type { Json } from '../../src/terms.ts';

test('values of a response are read by path', () => {
  const body = {
    meta: { next: 'a', 'x.y': { z: 1 }, '@paging.next': 'd', 'say "yes"': true },
    list: [{ href: 'b' }, { href: 'c' }],
    '@odata.nextLink': 'e',
    'Total Count': 7,
  };
  const cases: [string, Json | undefined][] = [
    ['meta.next', 'a'],
    ['meta["x.y"].z', 1],
    ["meta.'x.y'.z", 1],
    ['list[0].href', 'b'],
    ['list[-1].href', 'c'],
    ['meta.none.deeper', undefined],
    ['__proto__', undefined],
    ['meta.constructor', undefined],
    ['list.href', undefined],
    ['list.0.href', 'b'],
    ['list.-1.href', 'c'],
    ['$body.meta.next', 'a'],
    ['@odata.nextLink', 'e'],
    ['meta.@paging.next', 'd'],
    ['list[].href', undefined],
    ['list[', undefined],
    ['Total Count', 7],
    ['meta["say \\"yes\\""]', true],
  ];
  for (const [path, expected] of cases) assert.deepEqual(pathReader(path)(body), expected, path);
});

test('ids are found through lists, however the path writes them', () => {
  const row = {
    guests: [{ who: { id: 1 } }, { who: { id: 2 } }],
    byRole: { a: { id: 3 }, b: { id: 4 } },
    ids: [[5], 6],
  };
  const cases: [string, Json[]][] = [
    ['guests.who.id', [1, 2]],
    ['guests[].who.id', [1, 2]],
    ['guests.*.who.id', [1, 2]],
    ['guests[0].who.id', [1]],
    ['guests.-1.who.id', [2]],
    ['byRole[].id', [3, 4]],
    ['ids', [5, 6]],
    ['ids[]', [5, 6]],
    ['$item.guests[].who.id', [1, 2]],
    ['none[].id', []],
  ];
  for (const [path, expected] of cases) assert.deepEqual(pathWalker(path)(row), expected, path);
});
