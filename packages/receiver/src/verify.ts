import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Message, readMessages } from './message.ts';

export type Headers = { readonly [name: string]: string | readonly string[] | undefined };

export interface Request {
  /** Names in lower case, as Node, Express and Fastify give them. */
  readonly headers: Headers;
  /** The bytes as received. A parsed and printed body does not verify. */
  readonly body: string | Uint8Array;
  /** The secrets of the destination, `whsec_…`; two while one is replaced. One that is empty or short verifies nothing. */
  readonly secrets: readonly string[];
  /** Epoch milliseconds; by default the clock of this machine. */
  readonly now?: number;
  /** How far the time of the request may be off. Default: 300 seconds. */
  readonly toleranceSeconds?: number;
}

export type Verified =
  | { readonly kind: 'verified'; readonly id: string; readonly message: Message }
  | { readonly kind: 'refused'; readonly status: 400 | 401; readonly why: string };

/**
 * Checks a request of a `webhook` destination (Standard Webhooks): the signature over the raw bytes in constant time, and the age. Answer a
 * refusal with its status: Innbound then keeps the version as a dead letter.
 */
export function verify({ headers, body, secrets, now = Date.now(), toleranceSeconds = 300 }: Request): Verified {
  const id = one(headers['webhook-id']);
  const timestamp = one(headers['webhook-timestamp']);
  const signatures = one(headers['webhook-signature']);
  if (!id || !timestamp || !signatures) return refused(401, 'A webhook header is missing.');
  if (!/^\d{1,12}$/.test(timestamp)) return refused(401, 'webhook-timestamp is not a number of seconds.');
  // Not `>`, which is false for NaN.
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds))
    return refused(401, 'The request is too old, or ahead.');
  const given = signatures
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => Buffer.from(each.slice(3), 'base64'));
  const keys = secrets.flatMap(keyOf);
  if (keys.length === 0)
    return refused(401, 'No secret is usable: each is whsec_ and the base64 of at least 24 bytes.');
  const isSigned = keys.some((key) => {
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return given.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
  });
  if (!isSigned) return refused(401, 'No signature matches.');
  const read = readMessages(body);
  if ('wrong' in read) return refused(400, read.wrong);
  const [message] = read;
  if (message === undefined || read.length > 1) return refused(400, 'The body is not one message.');
  return { kind: 'verified', id, message };
}

/** Buffer.from skips what is not base64, so that a wrong text becomes a short key that anybody can guess. */
function keyOf(secret: string | undefined): Buffer[] {
  const [, base64] = /^(?:whsec_)?([A-Za-z0-9+/]+={0,2})$/.exec(secret ?? '') ?? [];
  const key = Buffer.from(base64 ?? '', 'base64');
  return key.length >= 24 ? [key] : [];
}

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

function refused(status: 400 | 401, why: string): Verified {
  return { kind: 'refused', status, why };
}
