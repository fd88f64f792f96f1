import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draining, seenLately } from '../../console/src/parts/draining.ts';
import { ago, clockOf, fieldName, instant, percent } from '../../console/src/parts/format.ts';

test('an exact time has its time zone', () => {
  assert.match(instant('2031-05-04T09:30:00Z'), /:30:00.* \S*(UTC|GMT|[A-Z]{3,4})\S*$/);
});

test('what comes within a second is not in 0 ms, and half past midnight is 00:30 in every language', () => {
  const now = Date.parse('2031-05-04T09:30:00Z');
  assert.equal(ago('2031-05-04T09:30:00.200Z', now), 'in 1 s');
  assert.equal(ago('2031-05-04T09:29:48Z', now), '12 s ago');
  const midnight = new Date(2031, 4, 4, 0, 30).toISOString();
  assert.match(instant(midnight), /00:30:00/);
  assert.match(clockOf(midnight), /00:30:00$/);
  assert.doesNotMatch(instant(new Date(2031, 4, 4, 15).toISOString()), /PM/);
});

test('100 % is said of all only, and 0 % of none', () => {
  assert.deepEqual([1, 0.99999, 0.996, 0.99, 0.5, 0.02, 0].map(percent), [
    '100 %',
    '99.9 %',
    '99.6 %',
    '99 %',
    '50 %',
    '2.0 %',
    '0 %',
  ]);
});

test('the name of a field is readable', () => {
  assert.equal(fieldName('guests[0].phone'), 'guest 1, phone');
  assert.equal(fieldName('rooms[1].room_type'), 'room 2, room type');
  assert.equal(fieldName('check_in'), 'check in');
  assert.equal(fieldName('[0].record.guests[0].first_name'), 'record 1, guest 1, first name');
});

test('how fast a backlog falls is said after some seconds, from the last minute, and only while it falls', () => {
  const at = (seconds: number, waiting: number) => ({ atMs: seconds * 1_000, waiting });
  const seen = [at(0, 20_000), at(5, 18_500), at(10, 17_000), at(100, 11_000), at(110, 10_000)].reduce(seenLately, []);
  assert.deepEqual(draining(seen), { perSecond: 100, leftMs: 100_000 });
  assert.equal(draining([at(0, 20_000), at(5, 10_000)]), undefined, 'too short');
  assert.equal(draining([at(0, 10), at(60, 20)]), undefined, 'it grows');
  assert.equal(draining([at(0, 10), at(60, 0)]), undefined, 'it is over');
});
