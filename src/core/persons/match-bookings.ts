import type { Guest } from '../canonical/reservation.ts';
import { sharedAmong } from './identifiers.ts';
import { samePerson } from './same-person.ts';

/** What two systems may both know of a booking. */
export interface Booking {
  readonly id: string;
  readonly confirmationNumber?: string | undefined;
  /** Other numbers that it carries, such as that of a booking site or of the system before. */
  readonly numbers: readonly string[];
  readonly checkIn: string;
  readonly checkOut: string;
  readonly isCancelled: boolean;
  readonly guests: readonly Guest[];
}

interface BookingMatch {
  readonly before: Booking;
  readonly now: Booking;
  readonly by: 'number' | 'person';
}

export interface BookingMatches {
  readonly matched: readonly BookingMatch[];
  readonly onlyBefore: readonly Booking[];
  readonly onlyNow: readonly Booking[];
}

/**
 * Which bookings of two systems of one hotel are the same. First those that share a number, if the dates or the persons agree with it: short
 * numbers repeat between systems. Then those with the same dates and a guest in common (`samePerson`), in the order of their ids where
 * somebody has several. A booking is matched once.
 */
export function matchBookings(before: readonly Booking[], now: readonly Booking[]): BookingMatches {
  const open = { before: new Set(before), now: new Set(now) };
  const matched: BookingMatch[] = [];
  const take = (one: Booking, other: Booking | undefined, by: BookingMatch['by']) => {
    if (other === undefined) return;
    open.before.delete(other);
    open.now.delete(one);
    matched.push({ before: other, now: one, by });
  };
  const byNumber = grouped(before, (one) => numbersOf(one, [one.id]));
  for (const one of inOrder(now)) {
    const candidates = new Set(numbersOf(one).flatMap((number) => byNumber.get(number) ?? []));
    const fitting = [...candidates].filter((other) => open.before.has(other) && agrees(one, other));
    take(one, fitting.find((other) => datesOf(other) === datesOf(one)) ?? fitting[0], 'number');
  }
  const byDates = grouped(inOrder([...open.before]), (one) => [datesOf(one)]);
  for (const one of inOrder([...open.now])) {
    const sameDates = (byDates.get(datesOf(one)) ?? []).filter((other) => open.before.has(other));
    const isFit = (other: Booking) => other.isCancelled === one.isCancelled && persons(one, other) === 'same';
    take(one, sameDates.find(isFit), 'person');
  }
  return { matched, onlyBefore: [...open.before], onlyNow: [...open.now] };
}

const numbersOf = ({ confirmationNumber: number, numbers }: Booking, more: readonly string[] = []): string[] =>
  [...(number === undefined ? [] : [number]), ...numbers, ...more]
    .map((one) => one.trim().toLowerCase())
    .filter(Boolean);

const datesOf = ({ checkIn, checkOut }: Booking): string => `${checkIn} ${checkOut}`;
const inOrder = (bookings: readonly Booking[]): Booking[] => bookings.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** An equal confirmation number needs overlapping dates, another number equal ones; the same person is enough for both. */
function agrees(a: Booking, b: Booking): boolean {
  const who = persons(a, b);
  if (who !== 'unknown') return who === 'same';
  const isConfirmed = numbersOf({ ...a, numbers: [] }).some((one) => numbersOf({ ...b, numbers: [] }).includes(one));
  return isConfirmed ? a.checkIn < b.checkOut && b.checkIn < a.checkOut : datesOf(a) === datesOf(b);
}

/** Whether the two have a guest in common; different if all their guests are different persons. */
function persons(a: Booking, b: Booking): 'same' | 'different' | 'unknown' {
  const between = { areTwoSystems: true, isOneReservation: true };
  const isShared = sharedAmong([...a.guests, ...b.guests], between);
  const decisions = a.guests.flatMap((one) =>
    b.guests.map((other) => samePerson(one, other, { ...between, isShared }).is),
  );
  if (decisions.includes('same')) return 'same';
  return decisions.length > 0 && decisions.every((is) => is === 'different') ? 'different' : 'unknown';
}

function grouped(bookings: readonly Booking[], keysOf: (one: Booking) => readonly string[]): Map<string, Booking[]> {
  const groups = new Map<string, Booking[]>();
  for (const one of bookings) {
    for (const key of new Set(keysOf(one))) groups.getOrInsertComputed(key, () => []).push(one);
  }
  return groups;
}
