import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs, waitMs } from '../../../src/core/outbound/ask/retries.ts';

test('backoff: up to 2 s, doubling, never more than a minute', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].map((failures) => backoffMs(failures, 1)),
    [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000],
  );
  assert.equal(backoffMs(3, 0), 0);
  assert.equal(backoffMs(3, 0.25), 2_000);
});

test('a 429 without a time: from 2 s, doubling, at least half of it, never more than five minutes', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const longest = waits.map((no) => waitMs(no, 1));
  assert.deepEqual(longest, [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000]);
  const least = waits.reduce((all, no) => all + waitMs(no, 0), 0);
  assert.equal(least, 555_000);
});
