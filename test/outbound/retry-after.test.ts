import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { retryAfterMs } from '../../src/core/outbound/retry-after.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const bounds = { leastMs: 1_000, mostMs: 3_600_000 };

test('Retry-After: seconds or a date, within the bounds; anything else is unreadable', () => {
  const cases: [string | null | undefined, number | undefined][] = [
    ['30', 30_000],
    [' 30 ', 30_000],
    ['1.5', 1_500],
    ['0', 1_000],
    ['86400', 3_600_000],
    ['999999999999999999999999', 3_600_000],
    ['Sun, 01 Mar 2026 12:01:00 GMT', 60_000],
    ['Sunday, 01-Mar-26 12:01:00 GMT', 60_000],
    ['Sun Mar  1 12:01:00 2026', 60_000],
    ['2026-03-01T12:01:00Z', 60_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 1_000],
    ['Sun, 01 Mar 2037 12:00:00 GMT', 3_600_000],
    ['1772366460', 60_000],
    ['1772366460000', 60_000],
    ['1772366400', 1_000],
    ['5 minutes', undefined],
    ['2026-03-01', undefined],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
  ];
  for (const [header, expected] of cases) assert.equal(retryAfterMs(header, now, bounds), expected, `${header}`);
  fc.assert(
    fc.property(fc.string(), (header) => {
      const ms = retryAfterMs(header, now, bounds);
      assert.ok(ms === undefined || (ms >= 1_000 && ms <= 3_600_000));
    }),
  );
});

test('without bounds a caller waits between zero and a day', () => {
  assert.equal(retryAfterMs('Sun, 01 Mar 2026 11:00:00 GMT', now), 0);
  assert.equal(retryAfterMs('999999999', now), 86_400_000);
});
