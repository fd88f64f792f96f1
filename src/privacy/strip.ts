import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Json, JsonObject } from '../terms.ts';

/** An erased guest becomes an empty element: the number of guests is not personal data. */
export function withoutGuests(
  reservation: Reservation,
  isErased: (guest: Guest) => boolean,
): { readonly reservation: Reservation; readonly erased: readonly Guest[] } {
  const erased = reservation.guests.filter((guest) => Object.keys(guest).length > 0 && isErased(guest));
  if (erased.length === 0) return { reservation, erased };
  const guests = reservation.guests.map((guest) => (erased.includes(guest) ? {} : guest));
  const { extra, ...rest } = reservation;
  const kept = extra === undefined || mentions(extra as JsonObject, erased) ? {} : { extra };
  return { reservation: { ...rest, guests, ...kept }, erased };
}

/** `extra` may repeat guest data under any key. If it mentions the guest, all of it is removed. */
function mentions(extra: JsonObject, erased: readonly Guest[]): boolean {
  const text = JSON.stringify(extra).toLowerCase();
  return erased.some((guest) =>
    [guest.email, guest.phone, guest.last_name, guest.document_number, guest.email_raw, guest.phone_raw].some(
      (value) => value !== undefined && value.length > 1 && text.includes(value.toLowerCase()),
    ),
  );
}

/** True for paths of notes, differences and origins that can hold guest data. */
export function speaksOfGuests(path: string): boolean {
  return path.startsWith('guests') || path.startsWith('extra');
}

const address = /[^\s"'<>(),;:\\]+@[^\s"'<>(),;:\\]+\.[^\s"'<>(),;:\\]+/g;

/** E-mail addresses anywhere in a payload that never became a record. */
export function addressesIn(raw: Json): string[] {
  return [
    ...new Set(
      JSON.stringify(raw ?? null)
        .toLowerCase()
        .match(address) ?? [],
    ),
  ].slice(0, 1_000);
}
