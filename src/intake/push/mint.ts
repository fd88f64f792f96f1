import { createSecretKey, randomBytes } from 'node:crypto';
import { randomId } from '../../kit/ids.ts';
import type { EpochMs } from '../../terms.ts';
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

/** A secret with the keys that verification uses. */
export function secretKeys(secretNo: number, secret: string, expiresAt?: EpochMs): Secret {
  const bytes = Buffer.from(secret);
  const decoded = Buffer.from(secret.startsWith('whsec_') ? secret.slice(6) : secret, 'base64');
  return {
    secretNo,
    bytes,
    key: createSecretKey(bytes),
    // A secret chosen by the sender may not be base64.
    standardKey: createSecretKey(decoded.length > 0 ? decoded : bytes),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
