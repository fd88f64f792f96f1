import type { Charge, Guest, Reservation } from '../canonical/reservation.ts';
import { rawNumber } from '../kit/json.ts';
import type { ChangeEvent, EntityType, EpochMs, JsonObject } from '../terms.ts';

/**
 * What a destination is told about a record: the canonical record, or the part of it that this destination may have.
 * Decimals are text, as everywhere in memory; encodeMessage writes them as numbers.
 */
export type MessageData = { readonly id: string } & Partial<Omit<Reservation, 'id'>> & Partial<Guest>;

/** One version of one record, as it goes over the wire. */
export interface Message {
  readonly type: EntityType;
  readonly integration: string;
  readonly brand_id: string;
  readonly event: ChangeEvent;
  readonly version: number;
  readonly idempotency_key: string;
  readonly data: MessageData;
}

/** A message and what a destination may need to know beside it. */
export interface Delivery {
  readonly message: Message;
  /** When the change was made, by the store's clock: the same at every try. */
  readonly changedAt: EpochMs;
  /** An earlier try ended without an answer: the destination may hold this version already. */
  readonly mayHaveArrived: boolean;
  /** Chosen under a consent rule: a guest without marketing_consent in here is one that withdrew. */
  readonly byConsent: boolean;
  /** Of an erasure: what the erased guests were known by. The data does not hold them any more. */
  readonly erased?: readonly Guest[];
}

export function encodeMessage(message: Message): string {
  return JSON.stringify({ ...message, data: withNumbers(message.data) });
}

/** The message as plain JSON values for a body mapping; decimals encode as numbers with every digit. */
export function messageJson(message: Message): JsonObject {
  return { ...message, data: withNumbers(message.data) } as unknown as JsonObject;
}

function withNumbers(data: MessageData): unknown {
  if (data.total_amount === undefined && data.charges === undefined) return data;
  return {
    ...data,
    ...(data.total_amount !== undefined && { total_amount: rawNumber(data.total_amount) }),
    ...(data.charges !== undefined && { charges: data.charges.map(chargeWithNumber) }),
  };
}

function chargeWithNumber(charge: Charge): unknown {
  return charge.amount === undefined ? charge : { ...charge, amount: rawNumber(charge.amount) };
}
