import type { LocalDate } from '../json.ts';
import { addExtra, type HotelReservation, type HotelStatus, moveStay, roomTypes, withRooms } from './booking.ts';
import { countryOf, type HotelGuest, inventEmail, inventPhone } from './guests.ts';
import { addDays, type Property } from './property.ts';
import type { Random } from './random.ts';

/** What a person at the desk can do to one reservation. */
export type ChangeAction =
  | { readonly kind: 'check_in' | 'check_out' | 'cancel' | 'no_show' | 'reinstate' | 'upgrade' | 'charge' }
  | { readonly kind: 'move'; readonly checkIn: LocalDate; readonly checkOut: LocalDate }
  | { readonly kind: 'extend'; readonly nights: number }
  /** Changes details of the first guest; without `set`, invents a new e-mail or phone. `profile`: a change outside the reservation. */
  | { readonly kind: 'guest'; readonly profile?: boolean; readonly set?: Partial<Omit<HotelGuest, 'guestId'>> };

export type Done =
  | { readonly what: string; readonly reservation: HotelReservation }
  | { readonly what: string; readonly guest: HotelGuest; readonly profileOnly: boolean }
  | { readonly refused: string };

/** What an action needs to know about the hotel. */
export interface Desk {
  readonly random: Random;
  readonly untidy: number;
  property(id: string): Property;
  guest(guestId: string): HotelGuest | undefined;
}

const to = {
  check_in: ['checked_in', 'checked in'],
  check_out: ['checked_out', 'checked out'],
  cancel: ['cancelled', 'cancelled'],
  no_show: ['no_show', 'marked no-show'],
  reinstate: ['confirmed', 'reinstated'],
} as const satisfies { readonly [kind in ChangeAction['kind']]?: readonly [HotelStatus, string] };

export const actionKinds = [
  ...(Object.keys(to) as (keyof typeof to)[]),
  ...(['upgrade', 'charge', 'move', 'extend', 'guest'] as const),
] satisfies readonly ChangeAction['kind'][];

export function applyAction(desk: Desk, before: HotelReservation, action: ChangeAction): Done {
  const property = desk.property(before.propertyId);
  switch (action.kind) {
    case 'move': {
      const { checkIn, checkOut } = action;
      if (checkOut < checkIn) return { refused: 'check_out is before check_in.' };
      return { what: `moved to ${checkIn}, ${checkOut}`, reservation: moveStay(property, before, checkIn, checkOut) };
    }
    case 'extend': {
      const checkOut = addDays(before.checkOut, action.nights);
      if (checkOut < before.checkIn) return { refused: 'The stay has fewer nights than that.' };
      const reservation = moveStay(property, before, before.checkIn, checkOut);
      return { what: `${action.nights < 0 ? 'shortened' : 'extended'} to ${checkOut}`, reservation };
    }
    case 'upgrade': {
      const [room, ...others] = before.rooms;
      if (room === undefined) return { refused: `Reservation ${before.id} has no room.` };
      const next = roomTypes[roomTypes.indexOf(room.roomType as (typeof roomTypes)[number]) + 1];
      if (next === undefined) return { refused: `${room.roomType} is the best room type.` };
      const reservation = withRooms(property, before, [{ ...room, roomType: next }, ...others]);
      return { what: `upgraded to ${next}`, reservation };
    }
    case 'charge':
      if (before.charges.length >= 40) return { refused: 'The bill is full.' };
      return { what: 'charged an extra', reservation: addExtra(desk.random, property, before) };
    case 'guest': {
      const guest = desk.guest(before.guestIds[0] ?? '');
      if (guest === undefined) return { refused: `Reservation ${before.id} has no guest.` };
      const set = action.set ?? inventDetail(desk, guest);
      const what = `guest’s ${Object.keys(set).join(', ')} changed`;
      return { what, guest: { ...guest, ...set }, profileOnly: action.profile === true };
    }
    default: {
      const [status, what] = to[action.kind];
      if (before.status === status) return { refused: `Reservation ${before.id} is already ${what}.` };
      return { what, reservation: { ...before, status } };
    }
  }
}

function inventDetail(desk: Desk, guest: HotelGuest): Partial<HotelGuest> {
  return desk.random.weighted<() => Partial<HotelGuest>>([
    [4, () => ({ email: inventEmail(desk.random, guest.firstName, guest.lastName, desk.untidy) })],
    [4, () => ({ phone: inventPhone(desk.random, countryOf(guest.nationality), desk.untidy) })],
    [2, () => ({ marketingConsent: !guest.marketingConsent })],
  ])();
}
