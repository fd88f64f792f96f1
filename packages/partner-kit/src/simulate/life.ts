import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { ChangeAction } from './actions.ts';
import type { HotelReservation } from './booking.ts';
import { Hotel, type HotelBook, type HotelChange, type HotelOptions, stayLength } from './hotel.ts';
import { addDays } from './property.ts';

type Doing = ChangeAction['kind'] | 'profile';

/**
 * Simulates the hotel's day. One step is one action of a desk, a guest or a booking site. What can happen depends on the
 * calendar: only today's arrivals check in, only guests in house check out. The night audit settles what is overdue.
 */
export class LivingHotel extends Hotel {
  /** No new bookings above this. */
  readonly #most: number;

  constructor(options: HotelOptions) {
    super(options);
    this.#most = Math.max(5_000, options.reservations * 5);
  }

  /** Makes `count` changes, one after the other. */
  advance(count: number): HotelChange[] {
    const happened: HotelChange[] = [];
    for (let tries = 0; happened.length < count && tries < count * 20; tries += 1) {
      const change = this.#step();
      if (change !== undefined) happened.push(change);
    }
    return happened;
  }

  /** The night audit: settles arrivals and departures that are overdue, and archives old stays. */
  audit(): HotelChange[] {
    const happened: HotelChange[] = [];
    for (const reservation of this.list()) {
      const today = this.today(reservation.propertyId);
      const action = overdue(reservation, today, this.random.next());
      if (action !== undefined) {
        const change = this.change(reservation.id, action);
        if ('event' in change) happened.push(change);
      } else if (reservation.checkOut < addDays(today, -60)) {
        this.forget(reservation.id);
      }
    }
    return happened;
  }

  #step(): HotelChange | undefined {
    const { random } = this;
    const full = this.size >= this.#most;
    // Other dates are rare: when half of the changes are of one kind, the service takes it for an accident.
    const kind = random.weighted([
      [full ? 0 : 26, 'book'],
      [16, 'check_in'],
      [14, 'check_out'],
      [4, 'move'],
      [4, 'extend'],
      [7, 'upgrade'],
      [10, 'charge'],
      [10, 'guest'],
      [5, 'profile'],
      [full ? 12 : 5, 'cancel'],
      [1, 'no_show'],
      [1, 'reinstate'],
    ] as const);
    if (kind === 'book') return this.book(bookingLead(random.next()), stayLength(random));
    const chosen = random.some(this.list((reservation) => this.#fits(kind, reservation)));
    if (chosen === undefined) return undefined;
    const change = this.change(chosen.id, this.#action(kind, chosen));
    return 'event' in change ? change : undefined;
  }

  #fits(kind: Doing, reservation: HotelReservation): boolean {
    const today = this.today(reservation.propertyId);
    const { status } = reservation;
    switch (kind) {
      case 'check_in':
        return status === 'confirmed' && reservation.checkIn <= today;
      case 'check_out':
        return status === 'checked_in' && reservation.checkOut <= today;
      case 'no_show':
        return status === 'confirmed' && reservation.checkIn < today;
      case 'reinstate':
        return status === 'cancelled' && reservation.checkIn > today;
      case 'move':
      case 'cancel':
        return status === 'confirmed' && reservation.checkIn > today;
      case 'charge':
        return status === 'checked_in';
      case 'extend':
        return status === 'checked_in' || (status === 'confirmed' && reservation.checkIn >= today);
      case 'upgrade':
      case 'guest':
      case 'profile':
        return status === 'confirmed' || status === 'checked_in';
    }
  }

  #action(kind: Doing, reservation: HotelReservation): ChangeAction {
    const { random } = this;
    if (kind === 'profile') return { kind: 'guest', profile: true };
    if (kind === 'extend') return { kind, nights: random.int(1, 2) };
    if (kind === 'move') {
      const today = this.today(reservation.propertyId);
      const shifted = addDays(reservation.checkIn, random.int(-4, 9));
      const checkIn = shifted > today ? shifted : addDays(today, 1);
      return { kind, checkIn, checkOut: addDays(checkIn, stayLength(random)) };
    }
    return { kind };
  }
}

/** Most book for the next two weeks, some for today, a few for months ahead. */
function bookingLead(chance: number): number {
  if (chance < 0.1) return 0;
  if (chance < 0.75) return 1 + Math.floor(((chance - 0.1) / 0.65) * 13);
  return 14 + Math.floor(((chance - 0.75) / 0.25) * 76);
}

function overdue(reservation: HotelReservation, today: string, chance: number): ChangeAction | undefined {
  if (reservation.status === 'confirmed' && reservation.checkIn < today) {
    return { kind: chance < 0.15 ? 'no_show' : 'check_in' };
  }
  if (reservation.status === 'checked_in' && reservation.checkOut < today) return { kind: 'check_out' };
  return undefined;
}

/** The hotel's calendar: it may run faster than the wall clock, and can be moved forward. */
export function hotelClock(now: () => number, speed: number) {
  const startedAt = now();
  let skippedMs = 0;
  return {
    now,
    hotelNow: (): number => startedAt + (now() - startedAt) * speed + skippedMs,
    skipDay: (): void => {
      skippedMs += 86_400_000;
    },
  };
}

/** The saved reservations; undefined if there are none or the file cannot be read, and the hotel then starts from its seed. */
export function readBook(file: string): HotelBook | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as HotelBook;
  } catch {
    return undefined;
  }
}

/** Saves the reservations shortly after each change, and on close. A kill loses at most one second of changes. */
export function keepBook(hotel: Hotel, file: string): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    timer = undefined;
    try {
      writeFileSync(`${file}.new`, JSON.stringify(hotel.written()));
      renameSync(`${file}.new`, file);
    } catch {
      // A full disk or a deleted folder must not stop the simulator; the next change tries again.
    }
  };
  write();
  const stop = hotel.onChange(() => {
    timer ??= setTimeout(write, 1_000);
  });
  return {
    close: () => {
      stop();
      clearTimeout(timer);
      write();
    },
  };
}
