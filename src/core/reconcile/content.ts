import type { EpochMs, Json, Note } from '../../terms.ts';
import type { ListName } from '../canonical/fields.ts';
import type { Reservation } from '../canonical/reservation.ts';

/**
 * Where a statement comes from: the partner's list, its answer for one reservation, its events about reservations, a guest's own events, what
 * was decided about the person's consent by all that is known, or a destination that reports back.
 */
export type Source = 'pull' | 'single' | 'push' | 'guest' | 'profile' | ReportingDestination;
export type ReportingDestination = `destination:${string}`;

/** When something was said: effective time, then sequence. */
export type Time = readonly [at: EpochMs, seq: number];

/** When fields were stated. */
export type FieldTimes = { readonly [field: string]: Time };

/**
 * Canonical fields with their values. A field that is absent was not mentioned; null means stated to be empty. Fields of `extra` are
 * listed by name, as `extra.loyalty_tier`.
 */
export type Values = { readonly [field: string]: Json };

export interface ContentItem {
  readonly values: Values;
  /** Fields filled in by the connector. Any statement of the partner is newer. */
  readonly at?: { readonly [field: string]: Time } | undefined;
  /** The partner's own id of a room or a charge, which no canonical field holds. */
  readonly key?: string | undefined;
  /** The element's values before this statement, where the statement changes what identifies it. */
  readonly as?: Values | undefined;
  /** Said by the guest, or about this guest's consent: a yes has a date of its own. */
  readonly isOwn?: true | undefined;
}

/** The partner's ids of the elements of lists, by position; null for an element without one. */
export type ItemIds = { readonly [Name in ListName]?: readonly (string | null)[] | undefined };

export type Lists<Of> = { readonly [Name in ListName]?: Of | undefined };

/** The content of a statement: checked and normalized values, before business rules. */
export interface Content {
  readonly values: Values;
  /** Values that the connector fills in for missing keys. They apply only where no source gave a value. */
  readonly assumed?: Values | undefined;
  readonly lists: Lists<readonly ContentItem[]>;
  /** Fields that were sent but could not be read, such as `channel` or `guests.0.phone`: what the source said before stays in force. */
  readonly unread?: readonly string[] | undefined;
}

/** How a message's missing fields are treated. */
export interface Scope {
  /** `full`: a field that the source gave before and omits now is cleared. `partial`: it stays. */
  readonly fields: 'full' | 'partial';
  /** `full`: the newest list contains all elements. `partial`: a list may contain only some of them. */
  readonly lists: 'full' | 'partial';
}

export const listNames = ['guests', 'rooms', 'charges'] as const satisfies readonly ListName[];

export const isEnded = (status: unknown): boolean => status === 'cancelled' || status === 'no_show';

/** Fields that normalization derives from another field are replaced together with it. */
const followers: ReadonlyMap<string, readonly string[]> = new Map([
  ['status', ['status_raw']],
  ['first_name', ['title']],
  ['email', ['email_raw', 'email_proxy']],
  ['phone', ['phone_raw']],
  ['total_amount', ['amount_currency']],
]);
const leaders = new Map([...followers].flatMap(([field, all]) => all.map((one) => [one, field] as const)));

/** The field that a derived field belongs to. */
export const leaderOf = (field: string): string => leaders.get(field) ?? field;

const isSaid = (values: Values, field: string): boolean =>
  values[field] !== undefined || followers.get(field)?.some((one) => values[one] !== undefined) === true;

const groups = new Map([...followers].map(([field, all]) => [field, [field, ...all]] as const));

export const groupOf = (field: string): readonly string[] => groups.get(field) ?? [field];

/** A text that is not an address or a number is kept as `…_raw`. It applies only where nothing readable was said. */
export function isRawOnly(values: { readonly [field: string]: unknown }, field: string): boolean {
  const raw = rawOf.get(field);
  return raw !== undefined && (values[raw] ?? null) !== null && (values[field] ?? null) === null;
}

const rawOf: ReadonlyMap<string, string> = new Map([
  ['email', 'email_raw'],
  ['phone', 'phone_raw'],
]);

/**
 * The currency that was stated together with an amount. It follows the amount, so that a later currency alone does not relabel it. Not a
 * canonical field: the merge gives it to `currency`.
 */
export const amountCurrency = 'amount_currency';

export function fieldsSaid(values: Values): Set<string> {
  return new Set(Object.keys(values).map(leaderOf));
}

export function isNewer(a: Time, b: Time): boolean {
  return a[0] !== b[0] ? a[0] > b[0] : a[1] > b[1];
}

export const never: Time = [0, 0];

/** The time of text that could not be read: after `never`, before every statement. */
export const unreadable: Time = [1, 0];

/** Fields of `extra` are said by name: `extra.loyalty_tier`. */
export const extraPrefix = 'extra.';

type Fields = { readonly [field: string]: unknown };

type Unread = ReadonlySet<string>;
const nothing: Unread = new Set();

/** The fields that were sent but could not be read, such as channel or guests.0.nationality; guests if none of its elements could. */
export function unreadIn(notes: readonly Note[], draft: Fields): Unread {
  const isUnread = ({ code, field }: Note) =>
    code === 'invalid_dropped' ||
    ((code === 'empty_item' || code === 'join_missing') && isList(field) && draft[field] === undefined);
  const fields = notes.filter(isUnread).map(({ field }) => field);
  return fields.length === 0 ? nothing : new Set(fields.map((field) => field.replace(/\[(\d+)\]/, '.$1')));
}

const isList = (field: string): boolean => field === 'guests' || field === 'rooms' || field === 'charges';

/**
 * What a message says: its canonical values, and null for fields that it sent empty. `draft` contains what was sent; without a draft, the
 * record itself is what is said.
 */
export function contentOf(
  record: Partial<Reservation>,
  draft?: Fields,
  assumed: ReadonlySet<string> = new Set(),
  ids: { readonly [Name in ListName]?: readonly (string | null | undefined)[] | undefined } = {},
  unread: Unread = nothing,
): Content {
  const lists: { [Name in ListName]?: readonly ContentItem[] } = {};
  const values = valuesOf(record as Fields, draft, unread, '');
  const weak: { [field: string]: Json } = {};
  for (const field of assumed) {
    const value = values[field];
    if (value === undefined || value === null) continue;
    weak[field] = value;
    delete values[field];
  }
  if (values.total_amount !== undefined && values.currency !== undefined) values[amountCurrency] = values.currency;
  for (const name of listNames) {
    const sent = draft?.[name] as readonly Fields[] | undefined;
    const items = record[name] as readonly Fields[] | undefined;
    if (draft !== undefined && sent === undefined) continue;
    // The check drops elements without any valid field; after that, positions in the record and in the message may differ.
    const isAligned = sent?.length === items?.length;
    lists[name] = (items ?? []).map((item, index) => {
      const key = isAligned || draft === undefined ? (ids[name]?.[index] ?? undefined) : undefined;
      const values = valuesOf(item, isAligned ? sent?.[index] : undefined, unread, `${name}.${index}.`);
      const guesses =
        assumed.size === 0 ? [] : Object.keys(values).filter((field) => assumed.has(`${name}[${index}].${field}`));
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
  unread: Unread = nothing,
  prefix = '',
): { [field: string]: Json } {
  const values: { [field: string]: Json } = {};
  for (const field of Object.keys(record)) {
    const value = record[field];
    if (value === undefined || value === null || isList(field)) continue;
    if (field !== 'extra') values[field] = value as Json;
    else for (const [name, one] of Object.entries(value as object)) values[extraPrefix + name] = one as Json;
  }
  if (draft === undefined) return values;
  for (const field of Object.keys(draft)) {
    const value = draft[field];
    if (value === undefined || isList(field)) continue;
    if (field === 'extra') for (const name of Object.keys(value ?? {})) values[extraPrefix + name] ??= null;
    else if (!leaders.has(field) && !isSaid(values, field) && !unread.has(prefix + field)) values[field] = null;
  }
  return values;
}
