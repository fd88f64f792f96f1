import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../../../terms.ts';

/** One request that the sender made. `raw` and `json` hold guest data and stay in memory. */
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
  /** What it was answered with. */
  readonly status: number;
}

/** All tries of one event, the first of them first. */
export interface Attempts {
  readonly role: Role;
  readonly deliveries: Delivery[];
}

/** accept: taken at once. fail: refused until the sender gives up. wait: told once to come later. */
export type Role = 'accept' | 'fail' | 'wait';

export function envelopeOf({ json }: Delivery): JsonObject | undefined {
  return isObject(json) ? json : undefined;
}

export function dataOf(delivery: Delivery): JsonObject | undefined {
  const data = envelopeOf(delivery)?.data;
  return isObject(data) ? data : undefined;
}

/** An event id where partners put one: in the envelope, by either name. */
export function eventIdOf(delivery: Delivery): string | undefined {
  const envelope = envelopeOf(delivery);
  const id = envelope?.event_id ?? envelope?.id;
  return typeof id === 'string' && id !== '' ? id : typeof id === 'number' ? String(id) : undefined;
}

/** What an event says, whatever its id and times: a retry under a new id is known by it. */
export function contentOf(delivery: Delivery): string {
  const envelope = envelopeOf(delivery);
  const said = envelope === undefined ? delivery.raw : JSON.stringify([envelope.event ?? null, envelope.data ?? null]);
  return createHash('sha256').update(said).digest('hex');
}
