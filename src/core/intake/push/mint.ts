import { createSecretKey, randomBytes } from 'node:crypto';
import { randomId } from '../../../kit/ids.ts';
import type { EpochMs } from '../../../terms.ts';
import type { Secret } from './verification.ts';

export function mintEndpointId(sandbox: boolean): string {
  return randomId(sandbox ? 'sbx' : 'whk');
}

/**
 * 264 random bits. The whole text is the HMAC key of the default scheme; the part after the prefix is plain base64, as
 * Standard Webhooks requires. Texts with + or / are discarded, so that a secret survives every shell, URL and form.
 */
export function mintSecret(): string {
  for (;;) {
    const text = randomBytes(33).toString('base64');
    if (!/[+/]/.test(text)) return `whsec_${text}`;
  }
}

const leastKeyBytes = 16;

/** A secret with the keys that verification uses. */
export function secretKeys(secretNo: number, secret: string, expiresAt?: EpochMs): Secret {
  const bytes = Buffer.from(secret);
  const [, base64] = /^(?:whsec_)?([\w+/-]+={0,2})$/.exec(secret) ?? [];
  const decoded = Buffer.from(base64 ?? '', 'base64');
  return {
    secretNo,
    bytes,
    key: createSecretKey(bytes),
    // A secret chosen by the sender may not be base64: what could be decoded of it is short.
    standardKey: createSecretKey(decoded.length >= leastKeyBytes ? decoded : bytes),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
