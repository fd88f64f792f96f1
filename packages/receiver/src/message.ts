import type { Guest, Reservation } from './record.ts';

interface Envelope {
  readonly integration: string;
  readonly brand_id: string;
  /** `removed`: the record left this destination. `erased`: a guest was erased; replace the record, delete what you derived from it. */
  readonly event: 'created' | 'updated' | 'cancelled' | 'erased' | 'removed';
  /** With the event `removed`; the data is then the id alone. */
  readonly removed?: true;
  /** Outranks the version: it rises when Innbound was restored from an older backup, after which versions repeat. Absent means 1. */
  readonly epoch?: number;
  /** Rises with every change of one record. */
  readonly version: number;
  /** The same for every attempt to deliver this version. */
  readonly idempotency_key: string;
}

export interface ReservationMessage extends Envelope {
  readonly type: 'reservation';
  readonly data: { readonly id: string } & Partial<Reservation>;
}

export interface GuestMessage extends Envelope {
  readonly type: 'guest';
  readonly data: { readonly id: string } & Guest;
}

/** One version of one record: the body of a `webhook` or `http` delivery, an element of a batch, a change of the feed. */
export type Message = ReservationMessage | GuestMessage;

/** Reads a body that was verified, or that arrived through an authenticated connection: one message, or a batch. */
export function readMessages(body: string | Uint8Array): readonly Message[] | { readonly wrong: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return { wrong: 'The body is not JSON in UTF-8.' };
  }
  const messages = Array.isArray(parsed) ? parsed : [parsed];
  return messages.every(isMessage) ? messages : { wrong: 'The body is not a message of Innbound.' };
}

function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null) return false;
  const { type, integration, version, idempotency_key, data } = value as Partial<Message>;
  return (
    (type === 'reservation' || type === 'guest') &&
    typeof integration === 'string' &&
    Number.isInteger(version) &&
    typeof idempotency_key === 'string' &&
    typeof data?.id === 'string'
  );
}
