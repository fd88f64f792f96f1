import { requiredFields } from './fields.ts';
import type { Guest } from './reservation.ts';

/**
 * Texts of a reservation that name a guest, such as the description of a charge: "Transfer for Ana Moura, 912 345 678". A text names a
 * guest by address, phone number, document number, or first and last name; a last name alone may be a word or a type of room.
 */
type Named = Pick<
  Guest,
  'first_name' | 'last_name' | 'email' | 'email_raw' | 'phone' | 'phone_raw' | 'document_number'
>;

/** Phone numbers are compared by their last digits: with or without the country's prefix they are the same. */
export const comparedDigits = 9;
/** Fewer digits are also found in dates, amounts and ids. */
const fewestDigits = 6;

export const lastDigits = (phone: string): string => phone.replace(/\D/g, '').slice(-comparedDigits);

/**
 * The last digits, with up to three other characters between two of them: 912 345 678, (91) 2345-678, +351.912.345.678. Undefined if
 * there are too few to recognise a number.
 */
export function numberPattern(phone: string): string | undefined {
  const digits = lastDigits(phone);
  return digits.length < fewestDigits ? undefined : digits.split('').join('[^0-9a-zA-Z]{0,3}');
}

export function mentions(text: string, guests: readonly Named[]): boolean {
  const lower = text.toLowerCase();
  return guests.some(({ first_name: first, last_name: last, email, email_raw, phone, phone_raw, document_number }) => {
    const written = [email, email_raw, phone_raw, document_number];
    if (written.some((one) => one !== undefined && one.length > 3 && lower.includes(one.toLowerCase()))) return true;
    const numbers = [phone, phone_raw].map((one) => one && numberPattern(one));
    if (numbers.some((number) => number && new RegExp(number).test(text))) return true;
    return first !== undefined && last !== undefined && hasWords(lower, first) && hasWords(lower, last);
  });
}

function hasWords(lower: string, name: string): boolean {
  const wanted = name.toLowerCase();
  const at = wanted === '' ? -1 : lower.indexOf(wanted);
  if (at === -1) return false;
  const around = `${lower.slice(Math.max(0, at - 1), at)} ${lower.slice(at + wanted.length, at + wanted.length + 1)}`;
  return !/[\p{L}\p{N}]/u.test(around) || hasWords(lower.slice(at + wanted.length), name);
}

/** Without the fields whose text names one of these guests. */
export function withoutMentions<Fields extends object>(fields: Fields, guests: readonly Named[]): Fields {
  const isNaming = ([field, value]: [string, unknown]) =>
    typeof value === 'string' && !requiredFields.has(field) && mentions(value, guests);
  const entries = Object.entries(fields);
  return entries.some(isNaming) ? (Object.fromEntries(entries.filter((one) => !isNaming(one))) as Fields) : fields;
}

interface Lists {
  readonly rooms?: readonly object[] | null | undefined;
  readonly charges?: readonly object[] | null | undefined;
}

/** The same for a reservation, its rooms and its charges; the same object if no text names a guest. */
export function reservationWithoutMentions<Of extends Lists>(reservation: Of, guests: readonly Named[]): Of {
  const kept = withoutMentions(reservation, guests);
  const rooms = kept.rooms?.map((room) => withoutMentions(room, guests));
  const charges = kept.charges?.map((charge) => withoutMentions(charge, guests));
  const isSame = (a: readonly object[] = [], b: readonly object[] = []) => a.every((one, i) => one === b[i]);
  if (isSame(rooms, kept.rooms ?? []) && isSame(charges, kept.charges ?? [])) return kept;
  return { ...kept, ...(rooms && { rooms }), ...(charges && { charges }) };
}
