import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recent } from '../../src/normalize/recent.ts';

test('keeps what is asked for, forgets the rest, and never holds more than its limit', () => {
  const recent = new Recent<number>(10);
  recent.set('asked', 0);
  for (let key = 1; key <= 100; key++) {
    recent.set(`${key}`, key);
    assert.equal(recent.get('asked'), 0);
    assert.ok(recent.size <= 10);
  }
  assert.equal(recent.get('1'), undefined);
  assert.equal(recent.get('100'), 100);
});

test('setting a key again gives the new value', () => {
  const recent = new Recent<number>(4);
  recent.set('a', 1);
  recent.set('a', 2);
  assert.equal(recent.get('a'), 2);
});
