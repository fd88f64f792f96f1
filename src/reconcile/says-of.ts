import type { ListName } from '../canonical/fields.ts';
import type { Reservation } from '../canonical/reservation.ts';
import type { Json, Note } from '../terms.ts';
import { amountCurrency, extraPrefix, leaderOf, listNames, never, type SaidItem, type Says } from './says.ts';

type Fields = { readonly [field: string]: unknown };

type Unread = ReadonlySet<string>;
const nothing: Unread = new Set();

/** The fields that were sent but could not be read, such as channel or guests.0.nationality; guests if none of its elements could. */
export function unreadIn(notes: readonly Note[], draft: Fields): Unread {
  const isUnread = ({ code, field }: Note) =>
    code === 'invalid_dropped' ||
    ((code === 'empty_item' || code === 'join_missing') && field in noLists && draft[field] === undefined);
  const fields = notes.filter(isUnread).map(({ field }) => field);
  return fields.length === 0 ? nothing : new Set(fields.map((field) => field.replace(/\[(\d+)\]/, '.$1')));
}

const noLists: { readonly [Name in ListName]: true } = { guests: true, rooms: true, charges: true };

/**
 * What a message says: its canonical values, and null for fields that it sent empty. `draft` contains what was sent; without a draft, the
 * record itself is what is said.
 */
export function saysOf(
  record: Partial<Reservation>,
  draft?: Fields,
  assumed: ReadonlySet<string> = new Set(),
  ids: { readonly [Name in ListName]?: readonly (string | null | undefined)[] | undefined } = {},
  unread: Unread = nothing,
): Says {
  const lists: { [Name in ListName]?: readonly SaidItem[] } = {};
  const weak: { [field: string]: Json } = {};
  const sortOut = (field: string, value: Json) => {
    if (!assumed.has(field)) return false;
    weak[field] = value;
    return true;
  };
  const values = valuesOf(record as Fields, draft, { unread, prefix: '' }, sortOut);
  for (const name of listNames) {
    const sent = draft?.[name] as readonly Fields[] | undefined;
    const items = record[name] as readonly Fields[] | undefined;
    if (draft !== undefined && sent === undefined) continue;
    lists[name] = (items ?? []).map((item, index) => {
      // The check drops elements without any valid field; after that, positions in the record and in the message may differ.
      const isAligned = sent?.length === items?.length;
      const key = isAligned || draft === undefined ? (ids[name]?.[index] ?? undefined) : undefined;
      const values = valuesOf(item, isAligned ? sent?.[index] : undefined, { unread, prefix: `${name}.${index}.` });
      const guesses = Object.keys(values).filter((field) => assumed.has(`${name}[${index}].${field}`));
      return {
        values,
        ...(key !== undefined && { key }),
        ...(guesses.length > 0 && { at: Object.fromEntries(guesses.map((field) => [field, never])) }),
      };
    });
  }
  const said = Object.keys(weak).length === 0 ? { values, lists } : { values, assumed: weak, lists };
  return unread.size === 0 ? said : { ...said, unread: [...unread] };
}

export function valuesOf(
  record: Fields,
  draft: Fields | undefined,
  { unread, prefix }: { readonly unread: Unread; readonly prefix: string } = { unread: nothing, prefix: '' },
  sortOut?: (field: string, value: Json) => boolean,
): { [field: string]: Json } {
  const values: { [field: string]: Json } = {};
  /** Fields that the message does not leave empty, although they are not among its values. */
  const sortedOut = new Set<string>();
  const say = (field: string, value: Json) => {
    if (sortOut?.(field, value) === true) sortedOut.add(field);
    else values[field] = value;
  };
  for (const [field, value] of Object.entries(record)) {
    if (value === undefined || value === null || listNames.includes(field as ListName)) continue;
    if (field !== 'extra') say(field, value as Json);
    else for (const [name, one] of Object.entries(value as object)) say(extraPrefix + name, one as Json);
  }
  if (values.total_amount !== undefined && values.currency !== undefined) values[amountCurrency] = values.currency;
  if (draft === undefined) return values;
  const said = new Set([...Object.keys(values), ...sortedOut].map(leaderOf));
  for (const [field, value] of Object.entries(draft)) {
    if (value === undefined || listNames.includes(field as ListName)) continue;
    if (field === 'extra') {
      for (const name of Object.keys((value ?? {}) as object))
        if (!said.has(extraPrefix + name)) values[extraPrefix + name] = null;
    } else if (leaderOf(field) === field && !said.has(field) && !unread.has(prefix + field)) {
      values[field] = null;
    }
  }
  return values;
}
