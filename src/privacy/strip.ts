import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Json, JsonObject } from '../terms.ts';

/** The erased guest keeps the place in the reservation and nothing else: how many guests there are is no personal data. */
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

/** What the partner sent along may repeat the guest under any name; the whole of it goes then. */
function mentions(extra: JsonObject, erased: readonly Guest[]): boolean {
  const text = JSON.stringify(extra).toLowerCase();
  return erased.some((guest) =>
    [guest.email, guest.phone, guest.last_name, guest.document_number, guest.email_raw, guest.phone_raw].some(
      (value) => value !== undefined && value.length > 1 && text.includes(value.toLowerCase()),
    ),
  );
}

/** Notes, differences and origins speak of fields by path: those of guests go. */
export function speaksOfGuests(path: string): boolean {
  return path.startsWith('guests') || path.startsWith('extra');
}

const address = /[^\s"'<>(),;:\\]+@[^\s"'<>(),;:\\]+\.[^\s"'<>(),;:\\]+/g;

/** Addresses anywhere in a payload that never became a record. */
export function addressesIn(raw: Json): string[] {
  return [
    ...new Set(
      JSON.stringify(raw ?? null)
        .toLowerCase()
        .match(address) ?? [],
    ),
  ].slice(0, 1_000);
}
