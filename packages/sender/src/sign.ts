import { createHmac } from 'node:crypto';

/**
 * The signature of one attempt, over the time of sending, a full stop and the exact bytes sent. A retry must therefore be
 * signed again, and a body that is parsed and serialized again in between no longer matches.
 */
export function sign(secret: string, timestampSeconds: number, rawBody: string | Uint8Array): string {
  if (secret === '') throw new Error('The secret is empty: everybody could sign like this.');
  return `sha512=${createHmac('sha512', secret).update(`${timestampSeconds}.`).update(rawBody).digest('hex')}`;
}

export function signedHeaders(secret: string, timestampSeconds: number, rawBody: string | Uint8Array) {
  return {
    'Content-Type': 'application/json',
    'X-Webhook-Timestamp': String(timestampSeconds),
    'X-Webhook-Signature': sign(secret, timestampSeconds, rawBody),
  };
}
