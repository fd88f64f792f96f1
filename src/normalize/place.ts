import type { Guest } from '../canonical/reservation.ts';

export type GuestField = keyof Guest;

/** By the guest's index, for as many guests as nearly all reservations have. */
const known = Array.from({ length: 32 }, () => new Map<GuestField, string>());

/** Where a field stands in its reservation: guests[0].phone. Each note says it, so it is one text for all of them. */
export function placeOf(index: number, name: GuestField): string {
  const places = known[index];
  let place = places?.get(name);
  if (place === undefined) {
    place = `guests[${index}].${name}`;
    places?.set(name, place);
  }
  return place;
}
