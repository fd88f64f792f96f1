import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from '../../../src/outbound/ask/retries.ts';

test('backoff: up to 2 s, doubling, never more than a minute', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].map((failures) => backoffMs(failures, 1)),
    [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000],
  );
  assert.equal(backoffMs(3, 0), 0);
  assert.equal(backoffMs(3, 0.25), 2_000);
});
