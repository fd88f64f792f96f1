import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../../json.ts';

/** One request from the sender. `raw` and `json` contain guest data and stay in memory. */
export interface Delivery {
  readonly number: number;
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
  readonly raw: Buffer;
  readonly utf8: boolean;
  readonly json: Json | undefined;
  /** The status of our response. */
  readonly status: number;
}

/** All attempts for one event, in order. */
export interface Attempts {
  readonly role: Role;
  readonly deliveries: Delivery[];
}

/** accept: accepted at once. fail: refused until the sender gives up. wait: answered once with 429. */
export type Role = 'accept' | 'fail' | 'wait';

export function envelopeOf({ json }: Delivery): JsonObject | undefined {
  return isObject(json) ? json : undefined;
}

export function dataOf(delivery: Delivery): JsonObject | undefined {
  const data = envelopeOf(delivery)?.data;
  return isObject(data) ? data : undefined;
}

/** The event id, under either of its usual names in the envelope. */
export function eventIdOf(delivery: Delivery): string | undefined {
  const envelope = envelopeOf(delivery);
  const id = envelope?.event_id ?? envelope?.id;
  return typeof id === 'string' && id !== '' ? id : typeof id === 'number' ? String(id) : undefined;
}

/** An event's content without id and times: identifies a retry that has a new id. */
export function contentOf(delivery: Delivery): string {
  const envelope = envelopeOf(delivery);
  const said = envelope === undefined ? delivery.raw : JSON.stringify([envelope.event ?? null, envelope.data ?? null]);
  return createHash('sha256').update(said).digest('hex');
}
