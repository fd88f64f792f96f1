import type { EntityType } from '../../../terms.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { foldName, writtenOut } from '../../persons/fold.ts';
import { keyTexts } from '../../persons/identifiers.ts';

/**
 * By what a record is found: a text search vector without positions, in the record's row. Its words are whole keys, so a lookup of an
 * address and a search for the beginning of a name read one index. The type is part of the word: an agency's address is in thousands of
 * reservations and in a few profiles.
 */
export function keysText(type: EntityType, record: unknown): string {
  return [...keysOf(type, record)].map((key) => word(type, key)).join(' ');
}

/** A query for records of the type with one of the keys; null, which matches nothing, without keys. */
export function anyKey(type: EntityType, keys: readonly string[]): string | null {
  return keys.length === 0 ? null : [...new Set(keys)].map((key) => word(type, key)).join(' | ');
}

/** A query for keys that begin with the text. */
export const keyPrefix = (type: EntityType, text: string): string => `${word(type, text)}:*`;

const word = (type: EntityType, key: string): string =>
  `'${type} ${key.slice(0, 500).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

/**
 * Read by the index of keys alone: combined with the brand, the planner reads all records of the brand as well (2.8 ms instead of 0.05 ms
 * at 7,000 bookings of a brand, 2 cores arm64).
 */
export const keyedRecords = (query: string): string =>
  `(select integration, type, id, arrival from records where keys @@ ${query}::tsquery offset 0)`;

/**
 * Keys by which guests are matched and by which people search: names and numbers in lower case. The address as the partner wrote it is
 * a key only if it differs from the cleaned one in more than letter case.
 */
function keysOf(type: EntityType, record: unknown): ReadonlySet<string> {
  const keys = new Set<string>();
  if (record === undefined || record === null) return keys;
  const guests = guestsOf(type, record);
  for (const guest of guests) {
    const { email, email_proxy, email_raw } = guest;
    for (const key of keyTexts(guest)) keys.add(key);
    if (email && email_proxy === true) keys.add(`alias:${email}`);
    const asWritten = email_raw?.slice(0, 320).toLowerCase();
    if (asWritten && asWritten !== email) keys.add(`email_raw:${asWritten}`);
    const name = nameKey(guest);
    if (name !== undefined) keys.add(name);
  }
  for (const { extra } of guests) for (const key of extraKeys(extra)) keys.add(key);
  if (type === 'guest') return keys;
  const { confirmation_number: number, extra } = record as Partial<Reservation>;
  if (number) keys.add(`confirmation_number:${number.slice(0, 200).toLowerCase()}`);
  for (const key of extraKeys(extra)) keys.add(key);
  return keys;
}

const guestsOf = (type: EntityType, record: unknown): readonly Guest[] =>
  type === 'guest' ? [record as Guest] : ((record as Partial<Reservation> | undefined)?.guests ?? []);

/** The keys of records with an equal full name: in both orders, and with ü as it is, as ue and as u. */
export const equalNameKeys = ({ first_name: first = '', last_name: last = '' }: Guest): string[] =>
  [writtenOut, (name: string) => foldName(name).replace(/([aou])e/g, '$1'), foldName].flatMap((spelled) =>
    [first, last].flatMap(
      (one, i, both) => nameKey({ first_name: spelled(both[1 - i] ?? ''), last_name: spelled(one) }) ?? [],
    ),
  );

/** The last name followed by the first name: callers give both, and the most common last name has thousands of guests. */
function nameKey({ first_name, last_name }: Guest): string | undefined {
  if (!last_name) return undefined;
  const first = first_name ? `, ${foldName(first_name.slice(0, 60))}` : '';
  return `last_name:${foldName(last_name.slice(0, 100))}${first}`;
}

/** Further fields that look like a number a guest may quote: of a booking site, a room, a loyalty card. */
function extraKeys(extra: { readonly [name: string]: unknown } | undefined): string[] {
  const keys = new Set<string>();
  for (const value of Object.values(extra ?? {})) {
    if (keys.size === 10) break;
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const text = String(value).trim().toLowerCase();
    if (isReadOut.test(text)) keys.add(`extra:${text}`);
  }
  return [...keys];
}

/** A digit, 2 to 40 characters without spaces, and neither a date nor a time. */
const isReadOut = /^(?=.*\d)(?!\d{4}-\d{2}-\d{2})[^\s:]{2,40}$/;
