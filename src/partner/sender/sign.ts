import { createHmac } from 'node:crypto';

/**
 * The signature of one send. Signed are the very bytes that go out, after the time of this send and a point; so a retry is
 * signed anew, and a body that is parsed and written again on the way no longer fits its signature.
 */
export function sign(secret: string, timestampSeconds: number, rawBody: string | Uint8Array): string {
  return `sha512=${createHmac('sha512', secret).update(`${timestampSeconds}.`).update(rawBody).digest('hex')}`;
}

export function signedHeaders(secret: string, timestampSeconds: number, rawBody: string | Uint8Array) {
  return {
    'Content-Type': 'application/json',
    'X-Webhook-Timestamp': String(timestampSeconds),
    'X-Webhook-Signature': sign(secret, timestampSeconds, rawBody),
  };
}
