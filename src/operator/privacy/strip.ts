import { comparedDigits, mentions, reservationWithoutMentions } from '../../core/canonical/mentions.ts';
import type { Guest, Reservation } from '../../core/canonical/reservation.ts';
import type { Json, JsonObject } from '../../terms.ts';

/**
 * An erased guest becomes an empty element: the number of guests is not personal data. Texts that name the guest are removed. `known`:
 * guests whom another version of the reservation holds; its texts may still name them.
 */
export function withoutGuests(
  reservation: Reservation,
  isErased: (guest: Guest) => boolean,
  known: readonly Guest[] = [],
): Reservation {
  const erased = reservation.guests.filter((guest) => Object.keys(guest).length > 0 && isErased(guest));
  const named = [...erased, ...known];
  if (named.length === 0) return reservation;
  const guests = reservation.guests.map((guest) => (erased.includes(guest) ? {} : guest));
  const { extra, ...rest } = reservationWithoutMentions(reservation, named);
  const kept = extra === undefined || extraMentions(extra as JsonObject, named) ? {} : { extra };
  return { ...rest, guests, ...kept };
}

/** `extra` may repeat guest data under any key. If it mentions a guest, even by the last name alone, all of it is removed. */
export function extraMentions(extra: JsonObject, guests: readonly Guest[]): boolean {
  const text = JSON.stringify(extra);
  const lower = text.toLowerCase();
  const has = (value = '') => value.length > 1 && lower.includes(value.toLowerCase());
  return (
    mentions(text, guests) ||
    guests.some((guest) => [guest.last_name, guest.document_number, guest.email_raw, guest.phone_raw].some(has))
  );
}

/** True for paths of notes, differences and origins that can hold guest data. */
export function mayHoldGuestData(path: string): boolean {
  return path.startsWith('guests') || path.startsWith('extra');
}

const localPart = /[^\s"'<>(),;:\\@]+$/;
const domain = /^[^\s"'<>(),;:\\@]+\.[^\s"'<>(),;:\\@]*[\p{L}\p{N}]/u;

/** E-mail addresses anywhere in a payload. Reads a bounded text around each @, so that a long text without spaces costs no more. */
export function addressesIn(raw: Json): string[] {
  const text = JSON.stringify(raw ?? null).toLowerCase();
  const addresses = new Set<string>();
  for (let at = text.indexOf('@'); at !== -1 && addresses.size < mostCompared; at = text.indexOf('@', at + 1)) {
    const [before] = localPart.exec(text.slice(Math.max(0, at - 64), at)) ?? [];
    const [after] = domain.exec(text.slice(at + 1, at + 256)) ?? [];
    if (before !== undefined && after !== undefined) addresses.add(`${before}@${after}`);
  }
  return [...addresses];
}

const mostCompared = 1_000;

/** Nine digits in a row, as at the end of a phone number, wherever they begin and however they are separated. */
export function numbersIn(raw: Json): string[] {
  const numbers = new Set<string>();
  for (const text of scalarsIn(raw)) {
    for (const [row] of text.matchAll(/\d(?:[^0-9a-zA-Z]{0,3}\d){8,}/g)) {
      const digits = row.replace(/\D/g, '');
      for (let end = comparedDigits; end <= digits.length && numbers.size < mostCompared; end++)
        numbers.add(digits.slice(end - comparedDigits, end));
    }
  }
  return [...numbers];
}

const looksLikeDocument = /^(?=.*\d)[^\s@]{6,40}$/;

/** Texts that may be the number of a document, in lower case. Shorter ones are also amounts and dates. */
export function documentsIn(raw: Json): string[] {
  const documents = new Set<string>();
  for (const text of scalarsIn(raw)) {
    if (documents.size < mostCompared && looksLikeDocument.test(text)) documents.add(text.toLowerCase());
  }
  return [...documents];
}

function* scalarsIn(value: Json): Generator<string> {
  if (typeof value !== 'object' || value === null) yield String(value);
  else for (const one of Object.values(value)) yield* scalarsIn(one);
}
