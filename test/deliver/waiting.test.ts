import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claimed } from '../../src/deliver/ports.ts';
import { Waiting } from '../../src/deliver/waiting.ts';
import { config, lane } from './support.ts';

test('a call is ours until the first lease of what it takes ends, and no sooner', () => {
  const one = lane(config('crm'));
  const claims = (count: number) => Array.from({ length: count }, (_, i) => ({ id: String(i) }) as unknown as Claimed);
  const waiting = new Waiting();
  waiting.add({ lane: one, claims: claims(3), leaseEndsAtMs: 100, sinceMs: 1 });
  waiting.add({ lane: one, claims: claims(4), leaseEndsAtMs: 50, sinceMs: 2 });
  waiting.add({ lane: one, claims: claims(2), leaseEndsAtMs: 900, sinceMs: 3 });
  const taken = (most: number) => {
    const { claims: some = [], leaseEndsAtMs, sinceMs } = waiting.take(most) ?? {};
    return [some.length, leaseEndsAtMs, sinceMs, waiting.count];
  };
  assert.deepEqual(taken(2), [2, 100, 1, 7]);
  assert.deepEqual(taken(2), [2, 50, 1, 5]);
  assert.deepEqual(taken(3), [3, 50, 2, 2]);
  assert.deepEqual(taken(9), [2, 900, 3, 0]);
  assert.equal(waiting.take(1), undefined);
});
