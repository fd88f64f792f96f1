import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeasedQueue } from '../../src/deliver/leased-queue.ts';
import type { Claimed } from '../../src/deliver/ports.ts';
import { config, lane } from './support.ts';

test('a call is bound by the lease that ends first among its records', () => {
  const one = lane(config('crm'));
  const claims = (count: number) => Array.from({ length: count }, (_, i) => ({ id: String(i) }) as unknown as Claimed);
  const queue = new LeasedQueue();
  queue.add({ lane: one, claims: claims(3), lease: { leftMs: 100 }, sinceMs: 1 });
  queue.add({ lane: one, claims: claims(4), lease: { leftMs: 50 }, sinceMs: 2 });
  queue.add({ lane: one, claims: claims(2), lease: { leftMs: 900 }, sinceMs: 3 });
  const taken = (most: number) => {
    const { claims: some = [], lease, sinceMs } = queue.take(most) ?? {};
    return [some.length, lease?.leftMs, sinceMs, queue.count];
  };
  assert.deepEqual(taken(2), [2, 100, 1, 7]);
  assert.deepEqual(taken(2), [2, 50, 1, 5]);
  assert.deepEqual(taken(3), [3, 50, 2, 2]);
  assert.deepEqual(taken(9), [2, 900, 3, 0]);
  assert.equal(queue.take(1), undefined);
});
