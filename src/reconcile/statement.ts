import type { ListName } from '../canonical/fields.ts';
import type { EpochMs, Json } from '../terms.ts';

/** Where a statement comes from: the partner's list, its answer for one reservation, or its events. */
export type Source = 'pull' | 'single' | 'push';

/** When something was said: effective time, then sequence. */
export type Mark = readonly [at: EpochMs, seq: number];

/**
 * Canonical fields with their values. A field that is not here was not spoken of; null says that it is empty. The fields of `extra`
 * stand here by name, as `extra.loyalty_tier`.
 */
export type Values = { readonly [field: string]: Json };

export interface SaidItem {
  readonly values: Values;
  /** Fields that the connector assumes, at a time before all others. */
  readonly at?: { readonly [field: string]: Mark } | undefined;
  /** The partner's own id of a room or a charge, which no canonical field holds. */
  readonly key?: string | undefined;
  /** How the element was known before, where the statement itself changes what it is known by. */
  readonly as?: Values | undefined;
}

/** The partner's ids of the elements of lists, by position; null for an element without one. */
export type ItemIds = { readonly [Name in ListName]?: readonly (string | null)[] | undefined };

export type Lists<Of> = { readonly [Name in ListName]?: Of | undefined };

/** What one message says of a reservation: values checked and normalized, no business rule applied. */
export interface Statement {
  readonly values: Values;
  /** What the connector assumes because the message says nothing: it counts where nobody has said anything. */
  readonly assumed?: Values | undefined;
  readonly lists: Lists<readonly SaidItem[]>;
}

/** What a message's silence means. */
export interface Manner {
  /** `clear`: a field that the source gave before and leaves out now is empty. `keep`: it stays as it is. */
  readonly silence: 'clear' | 'keep';
  /** `replace`: the elements of a list are those of the newest one. `merge`: a list names some of them. */
  readonly lists: 'replace' | 'merge';
}

export const listNames = ['guests', 'rooms', 'charges'] as const satisfies readonly ListName[];

/** What normalization makes of a field belongs to the field: they are said and replaced together. */
const followers: ReadonlyMap<string, readonly string[]> = new Map([
  ['status', ['status_raw']],
  ['email', ['email_raw', 'email_proxy']],
  ['phone', ['phone_raw']],
]);
const leaders = new Map([...followers].flatMap(([field, all]) => all.map((one) => [one, field] as const)));

/** The field under which a value is said. */
export const leaderOf = (field: string): string => leaders.get(field) ?? field;

export const groupOf = (field: string): readonly string[] => [field, ...(followers.get(field) ?? [])];

export function fieldsSaid(values: Values): Set<string> {
  return new Set(Object.keys(values).map(leaderOf));
}

export function isNewer(a: Mark, b: Mark): boolean {
  return a[0] !== b[0] ? a[0] > b[0] : a[1] > b[1];
}

export const never: Mark = [0, 0];
