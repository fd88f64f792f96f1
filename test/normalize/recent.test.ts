import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recent } from '../../src/normalize/recent.ts';

test('keeps the answers asked for last, and no more than its limit', () => {
  const recent = new Recent<number>(3);
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) recent.set(key, value);
  assert.equal(recent.get('a'), 1);
  recent.set('d', 4);
  assert.equal(recent.size, 3);
  assert.equal(recent.get('b'), undefined);
  assert.deepEqual([recent.get('a'), recent.get('c'), recent.get('d')], [1, 3, 4]);
});

test('setting a key again keeps one entry', () => {
  const recent = new Recent<number>(2);
  recent.set('a', 1);
  recent.set('a', 2);
  assert.equal(recent.size, 1);
  assert.equal(recent.get('a'), 2);
});
