import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffMs, retryAfterMs } from '../../../src/intake/pull/delays.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

test('Retry-After: seconds and dates, held between a second and an hour; anything else is none', () => {
  const cases: [string | undefined, number | undefined][] = [
    ['30', 30_000],
    [' 30 ', 30_000],
    ['1.5', 1_500],
    ['0', 1_000],
    ['86400', 3_600_000],
    ['Sun, 01 Mar 2026 12:01:00 GMT', 60_000],
    ['Sunday, 01-Mar-26 12:01:00 GMT', 60_000],
    ['Sun Mar  1 12:01:00 2026', 60_000],
    ['2026-03-01T12:01:00Z', 60_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 1_000],
    ['Sun, 01 Mar 2037 12:00:00 GMT', 3_600_000],
    ['5 minutes', undefined],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  for (const [header, expected] of cases) assert.equal(retryAfterMs(header, now), expected, `${header}`);
  fc.assert(
    fc.property(fc.string(), (header) => {
      const ms = retryAfterMs(header, now);
      assert.ok(ms === undefined || (ms >= 1_000 && ms <= 3_600_000));
    }),
  );
});

test('backoff: up to 2 s, doubling, never more than a minute', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].map((failures) => backoffMs(failures, 1)),
    [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000],
  );
  assert.equal(backoffMs(3, 0), 0);
  assert.equal(backoffMs(3, 0.25), 2_000);
});
