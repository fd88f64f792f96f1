import type { Json } from '../../../src/terms.ts';
import type { Received, Reply } from '../http-server.ts';

/**
 * An account at a vendor that keeps people, stays and moments as the vendor documents, and refuses requests that the vendor's
 * description does not allow. The suite looks at what the account holds afterwards.
 */
export interface Account {
  readonly preset: string;
  /** Settings of the preset before `destination prepare`. */
  variables(url: string): Record<string, string>;
  /** Answers as the vendor does; throws a Refusal for a request that is not as documented. */
  answer(request: Received): Reply;
  people(): readonly PersonSeen[];
  stays(): readonly StaySeen[];
  moments(): readonly MomentSeen[];
  /** A contact that others created before us. */
  seed?(email: string): void;
  /** The guest unsubscribes at the vendor. */
  unsubscribe(email: string): void;
  /** A stay can belong to several people. */
  readonly sharesStays?: boolean;
  /** Removes all people, where a stay refers to its guest by key. */
  forget?(): void;
  readonly takesPhones: boolean;
  /** Where the vendor keeps stays: as separate records, or only as part of moments. */
  readonly keepsStays: boolean;
  /** The vendor does not document how to empty an address or a field of a stay. */
  readonly keepsOldValues?: boolean;
  /** A date of birth that the guest loses stays: the vendor takes a date only. */
  readonly keepsBirthDates?: boolean;
  /** If the new address has a contact already: the vendor merges the two, archives the old one, or keeps both. */
  readonly onConflict: 'merged' | 'archived' | 'both';
}

export interface PersonSeen {
  readonly id: string;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  readonly first?: string | undefined;
  readonly last?: string | undefined;
  readonly guestId?: string | undefined;
  /** May be mailed: agreed, refused or not stated. */
  readonly subscribed?: boolean | undefined;
  /** Everything else that is kept of the person, as JSON. */
  readonly text: string;
}

export interface StaySeen {
  readonly key: string;
  readonly status: unknown;
  readonly checkIn: unknown;
  readonly amount: unknown;
  readonly nights: unknown;
  readonly channel: unknown;
  readonly brand: unknown;
  /** The id of the person that it belongs to. */
  readonly guest: string | undefined;
  /** Everything that is kept of the stay, as JSON, where guests are described in it. */
  readonly text?: string;
}

export interface MomentSeen {
  readonly id: string;
  readonly kind: string;
  readonly guest: string | undefined;
}

export type Body = { [key: string]: Json };

/** A request that the vendor's description does not allow. */
export class Refusal extends Error {}

export function demand(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Refusal(why);
}

export const isAddress = (value: unknown): boolean => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(String(value));
export const isPhone = (value: unknown): boolean => /^\+\d{7,15}$/.test(String(value));
export const isDate = (value: unknown): boolean => /^\d{4}-\d{2}-\d{2}$/.test(String(value));
export const isInstant = (value: unknown): boolean => /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(String(value));

/** The keys of an object are all among these. */
export function only(value: unknown, known: readonly string[], what: string): void {
  const unknown = Object.keys((value ?? {}) as object).filter((key) => !known.includes(key));
  demand(unknown.length === 0, `${what}: ${unknown.join(', ')} unknown`);
}

/** The path of a request without its query, and the query. */
export function split(path: string): { path: string; query: URLSearchParams } {
  const url = new URL(path, 'http://account.example');
  return { path: url.pathname, query: url.searchParams };
}

let serial = 1000;
export const newId = (): string => String(++serial);

/** The fields of a record after a change: an empty text or null removes a value, as far as the vendor takes it. */
export const changed = (known: Body | undefined, given: Body): Body =>
  Object.fromEntries(Object.entries({ ...known, ...given }).filter(([, value]) => value !== null && value !== ''));

export const text = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : String(value);
