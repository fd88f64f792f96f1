import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topOf, withGaps } from '../../console/src/parts/chart-scale.ts';

test('a spike at the start does not flatten the day', () => {
  const day = Array.from({ length: 90 }, (_, step) => (step === 2 ? 1_800 : 10 + (step % 5)));
  assert.ok(topOf(day) < 50, `${topOf(day)}`);
});

test('without a spike the chart ends at its highest value', () => {
  assert.equal(topOf([1, 5, 9, null, 12]), 12);
  assert.equal(topOf([0, 0, 0, 40]), 40, 'with nothing else there is nothing to flatten');
  assert.equal(topOf([]), 0);
});

test('a short pause is drawn through, a long one and the ends are gaps', () => {
  assert.deepEqual(withGaps([null, 1, null, null, 2, null, null, null, 3, null], 2), [
    null,
    1,
    undefined,
    undefined,
    2,
    null,
    null,
    null,
    3,
    null,
  ]);
});
