import { isEmptyGuest } from '../canonical/check.ts';
import { withNumbers } from '../canonical/encode.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { ChangeEvent, EntityType, EpochMs, JsonObject } from '../terms.ts';

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
