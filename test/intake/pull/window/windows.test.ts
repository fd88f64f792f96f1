import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addDays, localDateAt } from '../../../../src/core/canonical/values.ts';
import {
  daysIn,
  firstHalf,
  nextWindow,
  startOfDay,
  type Window,
} from '../../../../src/core/intake/pull/window/windows.ts';

const zones = [
  'Europe/Lisbon',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'America/New_York',
  'UTC',
];
const date = fc
  .date({ min: new Date('1999-01-01'), max: new Date('2039-12-31'), noInvalidDate: true })
  .map((at) => at.toISOString().slice(0, 10));

function cut(range: Window, stepDays: number): Window[] {
  const windows: Window[] = [];
  for (let from = range.from; ; ) {
    const window = nextWindow(from, range.to, stepDays);
    if (window === undefined) return windows;
    windows.push(window);
    from = addDays(window.to, 1);
  }
}

test('a range is cut into windows of 1 to 7 days that meet without gap or overlap', () => {
  fc.assert(
    fc.property(date, fc.nat(800), fc.integer({ min: 1, max: 7 }), (from, length, step) => {
      const range = { from, to: addDays(from, length) };
      const windows = cut(range, step);
      assert.equal(windows[0]?.from, range.from);
      assert.equal(windows.at(-1)?.to, range.to);
      for (const [i, window] of windows.entries()) {
        assert.ok(daysIn(window) >= 1 && daysIn(window) <= step);
        if (i > 0) assert.equal(window.from, addDays(windows[i - 1]?.to ?? '', 1));
      }
      assert.equal(
        windows.reduce((sum, window) => sum + daysIn(window), 0),
        length + 1,
      );
    }),
  );
});

test('days are counted over leap days, month ends and daylight saving', () => {
  assert.equal(addDays('2028-02-28', 1), '2028-02-29');
  assert.equal(addDays('2026-02-28', 1), '2026-03-01');
  assert.equal(addDays('2026-12-31', 1), '2027-01-01');
  assert.equal(addDays('2026-03-29', 1), '2026-03-30');
  fc.assert(
    fc.property(date, fc.integer({ min: -2000, max: 2000 }), (from, days) =>
      assert.equal(addDays(addDays(from, days), -days), from),
    ),
  );
});

test('a window is halved down to one day and its halves cover it', () => {
  fc.assert(
    fc.property(date, fc.integer({ min: 1, max: 6 }), (from, more) => {
      const whole = { from, to: addDays(from, more) };
      const first = firstHalf(whole);
      assert.ok(first);
      const second = nextWindow(addDays(first.to, 1), whole.to, daysIn(first));
      assert.ok(second);
      assert.equal(second.to, whole.to);
      assert.ok(daysIn(first) < daysIn(whole));
    }),
  );
  assert.equal(firstHalf({ from: '2026-01-01', to: '2026-01-01' }), undefined);
});

test('days at a property have no gaps, whatever its clocks do', () => {
  fc.assert(
    fc.property(date, fc.constantFrom(...zones), (day, zone) => {
      // The Pacific island of Samoa skipped 2011-12-30.
      if (zone === 'Pacific/Apia' && day.startsWith('2011-12-')) return;
      const start = startOfDay(day, zone);
      const end = startOfDay(addDays(day, 1), zone);
      assert.equal(localDateAt(zone, start), day);
      assert.equal(localDateAt(zone, end - 1), day);
      assert.notEqual(localDateAt(zone, start - 1), day);
      assert.ok(end - start >= 22 * 3_600_000 && end - start <= 26 * 3_600_000);
    }),
  );
});

test('today is the date at the property, not ours', () => {
  const at = Date.parse('2026-03-01T02:00:00Z');
  assert.equal(localDateAt('America/New_York', at), '2026-02-28');
  assert.equal(localDateAt('Europe/Lisbon', at), '2026-03-01');
  assert.equal(localDateAt('Pacific/Kiritimati', Date.parse('2026-02-28T12:00:00Z')), '2026-03-01');
});
