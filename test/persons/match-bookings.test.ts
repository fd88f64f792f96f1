import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { type Booking, matchBookings } from '../../src/core/persons/match-bookings.ts';

const ana: Guest = { guest_id: 'g1', first_name: 'Ana', last_name: 'Prado', email: 'ana@mail.example' };
const rui: Guest = { guest_id: 'g1', first_name: 'Rui', last_name: 'Matos', email: 'rui@mail.example' };
const booking = (id: string, more: Partial<Booking> = {}): Booking => ({
  id,
  numbers: [],
  checkIn: '2030-05-01',
  checkOut: '2030-05-04',
  isCancelled: false,
  guests: [],
  ...more,
});
const pairs = (before: readonly Booking[], now: readonly Booking[]) =>
  matchBookings(before, now).matched.map((one) => `${one.before.id}=${one.now.id} ${one.by}`);

test('the confirmation number decides, also where the dates were changed meanwhile', () => {
  const before = [booking('1', { confirmationNumber: 'ab-7', guests: [ana] })];
  assert.deepEqual(pairs(before, [booking('9', { confirmationNumber: 'AB-7 ', checkOut: '2030-05-06' })]), [
    '1=9 number',
  ]);
});

test('the id or number of the old system, carried as another field of the new one, is a number too', () => {
  const before = [booking('R-100', { guests: [ana] })];
  assert.deepEqual(pairs(before, [booking('9', { numbers: ['r-100'], guests: [ana] })]), ['R-100=9 number']);
});

test('an equal number of different persons, or of other dates without persons, is a coincidence', () => {
  const number = { confirmationNumber: '17' };
  const other = { ...number, checkIn: '2031-01-01', checkOut: '2031-01-02' };
  assert.deepEqual(
    pairs([booking('1', { ...number, guests: [ana] })], [booking('9', { ...number, guests: [rui] })]),
    [],
  );
  assert.deepEqual(pairs([booking('1', number)], [booking('9', other)]), []);
  assert.deepEqual(pairs([booking('1')], [booking('1')]), [], 'equal ids of two systems mean nothing');
});

test('without a number, the person and the dates decide; ids of guests are not compared', () => {
  const named = { guest_id: 'p9', first_name: 'ANA', last_name: 'Prado' };
  assert.deepEqual(pairs([booking('1', { guests: [ana] })], [booking('9', { guests: [named] })]), ['1=9 person']);
  assert.deepEqual(pairs([booking('1', { guests: [ana] })], [booking('9', { guests: [rui] })]), []);
  const later = { checkIn: '2030-05-02', guests: [ana] };
  assert.deepEqual(pairs([booking('1', { guests: [ana] })], [booking('9', later)]), []);
});

test('a cancelled booking is not continued by one that the same person made again for these days', () => {
  const cancelled = booking('1', { guests: [ana], isCancelled: true });
  assert.deepEqual(pairs([cancelled], [booking('9', { guests: [ana] })]), []);
});

test('two bookings of one person for the same days are matched once each', () => {
  const two = (...ids: string[]) => ids.map((id) => booking(id, { guests: [ana] }));
  assert.deepEqual(pairs(two('2', '1'), two('9', '8')), ['1=8 person', '2=9 person']);
  const { onlyBefore, onlyNow } = matchBookings(two('1', '2'), two('8'));
  assert.deepEqual([onlyBefore.map(({ id }) => id), onlyNow], [['2'], []]);
});
