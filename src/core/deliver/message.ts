import type { ChangeEvent, EntityType, EpochMs, JsonObject } from '../../terms.ts';
import { isEmptyGuest } from '../canonical/check.ts';
import { type Guest, type Reservation, withNumbers } from '../canonical/reservation.ts';

/**
 * The canonical record, or the part of it that a destination may have. Decimals are text, as everywhere in memory; encodeMessage
 * writes them as numbers.
 */
export type MessageData = { readonly id: string } & Partial<Omit<Reservation, 'id'>> & Partial<Guest>;

/** One version of one record, as sent. */
export interface Message {
  readonly type: EntityType;
  readonly integration: string;
  readonly brand_id: string;
  readonly event: ChangeEvent;
  /** The record has left: the data is its id alone. */
  readonly removed?: true;
  /**
   * Outranks the version. It rises when the store was restored from an older backup, after which version numbers repeat. Absent in the
   * first epoch.
   */
  readonly epoch?: number;
  readonly version: number;
  readonly idempotency_key: string;
  readonly data: MessageData;
}

export type ConsentChange =
  /** True, for a guest whom the destination has not seen in this record. */
  | 'first'
  /** True, after false or unknown. */
  | 'given'
  /** False, after true. */
  | 'withdrawn';

/** A message and its context. */
export interface Delivery extends Partial<Compared> {
  readonly message: Message;
  /** When the change was made, by the store's clock: the same at every try. */
  readonly changedAt: EpochMs;
  /** When the partner's data was in this state: a page's request, an event's timestamp. Not later than `changedAt`. */
  readonly statedAt?: EpochMs;
  /** An earlier try ended without an answer: the destination may have this version already. */
  readonly mayHaveArrived: boolean;
  /** Selected under `consent: marketing`: a guest with marketing_consent false in here has withdrawn. */
  readonly byConsent: boolean;
  /** The message holds the guests who withdrew their consent, and nothing else: the filter passes over the record. */
  readonly onlyWithdrawals?: boolean;
  /** For an erasure: the identifiers of the erased guests, which the data no longer holds. */
  readonly erased?: readonly Guest[];
}

/** What a destination that keeps people compares a message with. */
export interface Compared {
  /** What changed in a guest's consent since this destination last got it. */
  readonly consentChange: (guest: Guest) => ConsentChange | undefined;
  /**
   * The same guest under the addresses that the destination has from earlier versions, unless it moves them, and from other bookings; not under
   * one of somebody else who agrees.
   */
  readonly knownAs: (guest: Guest, isMoving: boolean) => readonly Guest[];
  /** Whether a person who is not in the message has this address or number. */
  readonly isShared: (address: string) => boolean;
  /** The destination has all that this first version of a profile says, from the guest's bookings. */
  readonly isKnown: () => boolean;
  /** Whether the guest is the one who booked, in every booking with this address. */
  readonly isOwner: (guest: Guest, address: string) => boolean;
  /** The latest versions that this destination has, newest first. */
  readonly earlier: () => readonly MessageData[];
  /** All stays of a guest that this destination may know of, past ones included, each with its integration. */
  readonly stays: (guest: Guest) => readonly StayOfBrand[];
}

export type StayOfBrand = MessageData & { readonly brand: string };

/** The store keeps the place of an erased guest, for merging; destinations do not get it. */
export function dataOf(type: EntityType, id: string, record: Reservation | Guest): MessageData {
  if (!('guests' in record)) return type === 'guest' ? { id, ...record } : { ...record, id };
  return { ...record, id, guests: record.guests.filter((guest) => !isEmptyGuest(guest)) };
}

/** A destination that remembers keys must not mistake a version of a later epoch for a repetition. */
export const keyInEpoch = (key: string, epoch: number): string => (epoch === 1 ? key : `${key}-e${epoch}`);

export function encodeMessage(message: Message): string {
  return JSON.stringify({ ...message, data: withNumbers(message.data) });
}

/** The message as plain JSON values for a body mapping; decimals encode as numbers with every digit. */
export function messageJson(message: Message): JsonObject {
  return { ...message, data: withNumbers(message.data) } as unknown as JsonObject;
}

/**
 * Which fields a destination gets. A path is a field (`check_in`), a field of every item of a list (`guests[].email`), or a key
 * under extra (`extra.loyalty`). Paths of guests[] also apply to guest records. `id` is always kept: it identifies the record.
 */
interface FieldChoice {
  readonly only?: readonly string[];
  readonly drop?: readonly string[];
}

type Plain = { [key: string]: unknown };

export function compileFields(choice: FieldChoice): (type: EntityType, data: MessageData) => MessageData {
  const only = choice.only === undefined ? undefined : tree(choice.only);
  const drop = tree(choice.drop ?? []);
  if (only === undefined && drop.size === 0) return (_type, data) => data;
  return (type, data) => {
    const whole = data as Plain;
    const wanted = type === 'guest' ? ofGuest(only) : only;
    const unwanted = type === 'guest' ? ofGuest(drop) : drop;
    const kept = wanted === undefined ? whole : { id: data.id, ...keep(whole, wanted) };
    return { ...(unwanted === undefined ? {} : without(kept, unwanted)), id: data.id } as MessageData;
  };
}

/** The fields chosen for guests; undefined if guests are chosen as a whole. */
function ofGuest(fields: Tree | undefined): Tree | undefined {
  return fields === undefined || fields.has('guests') ? fields?.get('guests') : new Map();
}

/** The last part of a path maps to undefined: the whole field. */
type Tree = Map<string, Tree | undefined>;

function tree(paths: readonly string[]): Tree {
  const root: Tree = new Map();
  for (const path of paths) {
    let at = root;
    const parts = path.replaceAll('[]', '').split('.');
    for (const [i, part] of parts.entries()) {
      if (i === parts.length - 1) at.set(part, undefined);
      else {
        const below = at.get(part);
        if (at.has(part) && below === undefined) break; // the whole field is chosen already
        const next: Tree = below ?? new Map();
        at.set(part, next);
        at = next;
      }
    }
  }
  return root;
}

function keep(value: Plain, wanted: Tree): Plain {
  const kept: Plain = {};
  for (const [key, inner] of Object.entries(value)) {
    if (!wanted.has(key)) continue;
    const below = wanted.get(key);
    kept[key] = below === undefined ? inner : eachPlain(inner, (item) => keep(item, below));
  }
  return kept;
}

function without(value: Plain, dropped: Tree): Plain {
  if (dropped.size === 0) return value;
  const kept: Plain = {};
  for (const [key, inner] of Object.entries(value)) {
    if (!dropped.has(key)) kept[key] = inner;
    else {
      const below = dropped.get(key);
      if (below !== undefined) kept[key] = eachPlain(inner, (item) => without(item, below));
    }
  }
  return kept;
}

function eachPlain(value: unknown, change: (item: Plain) => Plain): unknown {
  if (Array.isArray(value)) return value.map((item) => eachPlain(item, change));
  return typeof value === 'object' && value !== null ? change(value as Plain) : value;
}
