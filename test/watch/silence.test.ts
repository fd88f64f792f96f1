import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgeSilence } from '../../src/operator/watch/silence.ts';

const hourMs = 3_600_000;
const rules = { missed: 8, leastMs: 15 * 60_000 };
const at = (text: string) => Date.parse(text);

/** Four weeks of a brand that sends by day on workdays, a little on Saturdays, and never at night or on Sundays. */
function habit(until: number, timezone = 'UTC'): { at: number; count: number }[] {
  const hours: { at: number; count: number }[] = [];
  for (let hour = until - 28 * 24 * hourMs; hour < until; hour += hourMs) {
    const local = Temporal.Instant.fromEpochMilliseconds(hour).toZonedDateTimeISO(timezone);
    const byDay = local.hour >= 8 && local.hour < 20;
    const count = !byDay || local.dayOfWeek === 7 ? 0 : local.dayOfWeek === 6 ? 2 : 30;
    if (count > 0) hours.push({ at: hour, count });
  }
  return hours;
}
const feed = (last: string, timezone = 'UTC') => ({
  lastAt: at(last),
  hours: habit(Math.floor(at(last) / hourMs) * hourMs, timezone),
  timezone,
});

test('an hour without events on a Wednesday noon is silence', () => {
  const judged = judgeSilence(feed('2026-11-11T11:00:00Z'), at('2026-11-11T12:00:00Z'), rules);
  assert.equal(judged.silent, true);
  assert.equal(Math.round(judged.expected ?? 0), 30);
});

test('the night and the Sunday are quiet by habit', () => {
  assert.equal(judgeSilence(feed('2026-11-11T19:55:00Z'), at('2026-11-12T07:55:00Z'), rules).silent, false);
  assert.equal(judgeSilence(feed('2026-11-14T19:50:00Z'), at('2026-11-15T23:00:00Z'), rules).silent, false);
});

test('a slow Saturday is not silence', () => {
  const saturday = feed('2026-11-14T09:00:00Z');
  assert.equal(judgeSilence(saturday, at('2026-11-14T11:00:00Z'), rules).silent, false);
  assert.equal(judgeSilence(saturday, at('2026-11-14T13:30:00Z'), rules).silent, true);
});

test('silence after the night counts from the morning', () => {
  const evening = feed('2026-11-11T19:55:00Z');
  assert.equal(judgeSilence(evening, at('2026-11-12T08:10:00Z'), rules).silent, false);
  assert.equal(judgeSilence(evening, at('2026-11-12T08:30:00Z'), rules).silent, true);
});

test("hours are in the property's time zone, across daylight saving changes", () => {
  // New York left summer time on 2026-11-01: 8 in the morning is 13:00 UTC now and was 12:00 UTC before.
  const newYork = feed('2026-11-02T00:55:00Z', 'America/New_York');
  assert.equal(judgeSilence(newYork, at('2026-11-02T12:59:00Z'), rules).silent, false);
  assert.equal(judgeSilence(newYork, at('2026-11-02T13:30:00Z'), rules).silent, true);
});

test('a feed without a habit is not judged', () => {
  const young = {
    lastAt: at('2026-11-11T11:00:00Z'),
    hours: [{ at: at('2026-11-11T10:00:00Z'), count: 50 }],
    timezone: 'UTC',
  };
  assert.deepEqual(judgeSilence(young, at('2026-11-11T23:00:00Z'), rules).silent, false);
  assert.equal(judgeSilence({ ...young, hours: [] }, at('2026-11-12T23:00:00Z'), rules).expected, undefined);
});

test('a feed of a few days is compared with the same hour of the days before', () => {
  const hours = [1, 2, 3, 4].map((day) => ({ at: at(`2026-11-0${day + 4}T10:00:00Z`), count: 40 }));
  const few = { lastAt: at('2026-11-09T10:00:00Z'), hours, timezone: 'UTC' };
  assert.equal(judgeSilence(few, at('2026-11-09T10:40:00Z'), rules).silent, true);
});

test('silence only grows with time', () => {
  const wednesday = feed('2026-11-11T11:00:00Z');
  fc.assert(
    fc.property(fc.nat(96 * 60), fc.nat(96 * 60), (a, b) => {
      const [early, late] = [Math.min(a, b), Math.max(a, b)].map(
        (minutes) => judgeSilence(wednesday, wednesday.lastAt + minutes * 60_000, rules).expected ?? 0,
      ) as [number, number];
      return early <= late + 1e-9;
    }),
    { numRuns: 200 },
  );
});
