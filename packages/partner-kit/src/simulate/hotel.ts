import type { EpochMs, LocalDate } from '../json.ts';
import { applyAction, type ChangeAction } from './actions.ts';
import { type HotelReservation, type HotelStatus, inventBooking } from './booking.ts';
import { type HotelGuest, inventGuest } from './guests.ts';
import { addDays, dateIn, type Property } from './property.ts';
import { Random } from './random.ts';

export type HotelEvent = 'reservation.created' | 'reservation.updated' | 'reservation.cancelled' | 'guest.updated';

/** Something that happened in the hotel, and the event that reports it. */
export interface HotelChange {
  readonly event: HotelEvent;
  /** For the page: what the desk did, in a few words. */
  readonly what: string;
  readonly at: EpochMs;
  readonly propertyId: string;
  /** Absent for a guest.updated of a guest without a reservation. */
  readonly reservation?: HotelReservation;
  readonly guest?: HotelGuest;
}

/** The hotel's complete state, as it is saved. */
export interface HotelBook {
  readonly reservations: readonly HotelReservation[];
  readonly guests: readonly HotelGuest[];
  readonly lastNumber: number;
}

export interface HotelOptions {
  /** The same seed gives the same hotel. */
  readonly seed: number | string;
  readonly properties: readonly [Property, ...Property[]];
  /** The number of reservations at the start. */
  readonly reservations: number;
  /** A saved state to continue from. */
  readonly kept?: HotelBook | undefined;
  /** The share, 0 to 1, of names, phones and e-mails that are badly typed. */
  readonly untidy: number;
  /** The hotel's own time: its calendar may run fast. */
  readonly hotelNow: () => EpochMs;
  /** The wall clock: when a change really happened. */
  readonly now: () => EpochMs;
}

/** The reservations of a hotel group, and the ways to change them. Listeners receive each change, in order. */
export class Hotel {
  readonly properties: readonly [Property, ...Property[]];
  readonly random: Random;
  readonly untidy: number;
  readonly #reservations = new Map<string, HotelReservation>();
  readonly #guests = new Map<string, HotelGuest>();
  readonly #listeners = new Set<(change: HotelChange) => void>();
  readonly #hotelNow: () => EpochMs;
  readonly #now: () => EpochMs;
  #lastNumber = 100_000;

  constructor(options: HotelOptions) {
    this.properties = options.properties;
    this.untidy = options.untidy;
    this.#hotelNow = options.hotelNow;
    this.#now = options.now;
    const { kept } = options;
    this.random = new Random(`book ${options.seed}${kept === undefined ? '' : ` from ${kept.lastNumber}`}`);
    if (kept === undefined) {
      for (let i = 0; i < options.reservations; i += 1) this.#openBook();
      return;
    }
    for (const guest of kept.guests) this.#guests.set(guest.guestId, guest);
    for (const reservation of kept.reservations) this.#reservations.set(reservation.id, reservation);
    this.#lastNumber = kept.lastNumber;
  }

  /** The complete state, for saving. */
  written(): HotelBook {
    const lastNumber = this.#lastNumber;
    return { reservations: [...this.#reservations.values()], guests: [...this.#guests.values()], lastNumber };
  }

  get size(): number {
    return this.#reservations.size;
  }

  list(filter: (reservation: HotelReservation) => boolean = () => true): HotelReservation[] {
    return [...this.#reservations.values()].filter(filter);
  }

  find(id: string): HotelReservation | undefined {
    return this.#reservations.get(id);
  }

  guest(guestId: string): HotelGuest | undefined {
    return this.#guests.get(guestId);
  }

  guestsOf(reservation: HotelReservation): HotelGuest[] {
    return reservation.guestIds.flatMap((guestId) => this.#guests.get(guestId) ?? []);
  }

  property(id: string): Property {
    return this.properties.find((property) => property.id === id) ?? this.properties[0];
  }

  today(propertyId: string): LocalDate {
    return dateIn(this.property(propertyId).timezone, this.#hotelNow());
  }

  /** Calls `listener` for each change. Returns a function that removes it. */
  onChange(listener: (change: HotelChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A new booking, `inDays` from today. */
  book(inDays: number, nights: number): HotelChange {
    const property = this.random.pick(this.properties);
    const today = this.today(property.id);
    return this.#enter(this.#invent(property, addDays(today, inDays), nights, today));
  }

  /** A booking that sorts first in the list of a range: it arrives long before the range and leaves within it. */
  bookFirst(from: LocalDate): HotelChange {
    const property = this.properties[0];
    return this.#enter(this.#invent(property, addDays(from, -30), 31, addDays(from, -31)));
  }

  /** Applies one action to one reservation, or says why it cannot. */
  change(id: string, action: ChangeAction): HotelChange | { readonly refused: string } {
    const before = this.#reservations.get(id);
    if (before === undefined) return { refused: `No reservation ${id}.` };
    const done = applyAction(this, before, action);
    if ('refused' in done) return done;
    const { what } = done;
    if ('guest' in done) {
      const { guest, profileOnly } = done;
      this.#guests.set(guest.guestId, guest);
      if (profileOnly) return this.#report({ event: 'guest.updated', what, reservation: before, guest });
      return this.#report({ event: 'reservation.updated', what, reservation: before });
    }
    const { reservation } = done;
    this.#reservations.set(id, reservation);
    const gone = reservation.status === 'cancelled' || reservation.status === 'no_show';
    return this.#report({ event: gone ? 'reservation.cancelled' : 'reservation.updated', what, reservation });
  }

  /** Removes a reservation, as an archive job does; no event reports it. */
  forget(id: string): boolean {
    return this.#reservations.delete(id);
  }

  #enter(reservation: HotelReservation): HotelChange {
    this.#reservations.set(reservation.id, reservation);
    return this.#report({ event: 'reservation.created', what: 'booked', reservation });
  }

  #report(change: Omit<HotelChange, 'at' | 'propertyId'>): HotelChange {
    const propertyId = change.reservation?.propertyId ?? this.properties[0].id;
    const reported = { ...change, at: this.#now(), propertyId };
    for (const listener of this.#listeners) listener(reported);
    return reported;
  }

  #invent(property: Property, checkIn: LocalDate, nights: number, bookingDate: LocalDate): HotelReservation {
    this.#lastNumber += this.random.int(1, 3);
    const id = `R${this.#lastNumber}`;
    return inventBooking(this.random, {
      id,
      confirmationNumber: `${property.id.slice(0, 3)}-${this.random.digits(7)}`,
      property,
      checkIn,
      nights,
      bookingDate,
      guestIds: this.#party(),
    });
  }

  /** One to four guests; one booking in eight is by a returning guest. */
  #party(): [string, ...string[]] {
    const size = this.random.weighted([
      [30, 1],
      [52, 2],
      [10, 3],
      [8, 4],
    ]);
    const back = this.random.chance(0.12) ? `G${this.random.int(1, this.#guests.size)}` : '';
    const first = this.#guests.has(back) ? back : this.#newGuest();
    const party: [string, ...string[]] = [first];
    while (party.length < size) party.push(this.#newGuest());
    return party;
  }

  #newGuest(): string {
    const guestId = `G${this.#guests.size + 1}`;
    this.#guests.set(guestId, inventGuest(this.random, guestId, this.untidy));
    return guestId;
  }

  /** One reservation at the start: past stays are over, and arrivals are densest around today. */
  #openBook(): void {
    const property = this.random.pick(this.properties);
    const today = this.today(property.id);
    const shift = Math.round((this.random.next() + this.random.next() + this.random.next() - 1.5) * 28) + 3;
    const nights = stayLength(this.random);
    const checkIn = addDays(today, shift);
    const bookingDate = addDays(shift < 0 ? checkIn : today, -this.random.int(1, 90));
    const booked = this.#invent(property, checkIn, nights, bookingDate);
    const status = openingStatus(this.random, booked, today);
    this.#reservations.set(booked.id, { ...booked, status });
  }
}

export function stayLength(random: Random): number {
  return random.weighted([
    [22, 1],
    [26, 2],
    [22, 3],
    [12, 4],
    [8, 5],
    [7, 7],
    [3, 14],
  ]);
}

function openingStatus(random: Random, booked: HotelReservation, today: LocalDate): HotelStatus {
  if (random.chance(0.07)) return 'cancelled';
  if (booked.checkIn > today) return 'confirmed';
  if (random.chance(0.03)) return 'no_show';
  if (booked.checkOut < today) return 'checked_out';
  if (booked.checkIn === today) return random.chance(0.4) ? 'checked_in' : 'confirmed';
  if (booked.checkOut === today) return random.chance(0.6) ? 'checked_out' : 'checked_in';
  return 'checked_in';
}
