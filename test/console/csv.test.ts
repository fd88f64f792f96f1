import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csv } from '../../console/src/parts/csv.ts';

test('texts are quoted where they must be, and formulas are neutralised', () => {
  const text = csv(
    ['brand', 'count'],
    [
      ['=SUM(A1)', -3],
      ['a "b", c', 2],
      ['@x', 0],
      ['-2+3', 1],
      ['+1', 1],
      ['\tx', 1],
    ],
  );
  assert.deepEqual(text.split('\r\n'), [
    'brand,count',
    "'=SUM(A1),-3",
    '"a ""b"", c",2',
    "'@x,0",
    "'-2+3,1",
    "'+1,1",
    "'\tx,1",
  ]);
});
