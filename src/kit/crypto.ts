import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

/**
 * Encryption at rest with AES-256-GCM. A sealed value names its key, so that keys can be rotated, and is bound to what
 * it belongs to: a sealed value moved to another row does not open there.
 *
 *   version 1 | key id 8 | nonce 12 | tag 16 | ciphertext        (bytes)
 *
 * Nonces are random: with 2^32 values under one key, far more than a store holds, the probability of a repeat is 2^-32.
 */

export interface Key {
  readonly id: string;
  readonly bytes: Buffer;
}

/** The first seals; all open. */
export type Keyring = readonly [Key, ...Key[]];

export type Opened =
  | { readonly kind: 'ok'; readonly plaintext: Buffer }
  | { readonly kind: 'unknown_key'; readonly keyId: string }
  /** Changed, cut short, or sealed for something else. */
  | { readonly kind: 'damaged' };

const version = 1;
const idEnd = 9;
const nonceEnd = idEnd + 12;
const tagEnd = nonceEnd + 16;

/** Keys separated by commas or line breaks; undefined if one of them is not a key, or if there is none. */
export function parseKeys(text: string): Keyring | undefined {
  const keys = text.split(/[,\n]/).flatMap((part) => (part.trim() === '' ? [] : [parseKey(part)]));
  const [first, ...others] = keys;
  if (first === undefined || !others.every((key) => key !== undefined)) return undefined;
  return [first, ...others];
}

/** A key of 32 bytes in hex or base64 (either alphabet); undefined for any other text. */
export function parseKey(text: string): Key | undefined {
  const plain = text.trim();
  const isHex = /^[0-9a-fA-F]{64}$/.test(plain);
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(plain)) return undefined;
  return keyOf(Buffer.from(plain, isHex ? 'hex' : 'base64'));
}

/** The id of the key that a value is sealed with; undefined if the bytes are not a sealed value. */
export function keyIdOf(sealed: Uint8Array): string | undefined {
  if (sealed.length < tagEnd || sealed[0] !== version) return undefined;
  return Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString('hex', 1, idEnd);
}

/** The id distinguishes keys and reveals nothing about the key. */
export function keyOf(bytes: Buffer): Key {
  if (bytes.length !== 32) throw new TypeError('a key has 32 bytes');
  return { id: hmacSha256(bytes, 'key id').toString('hex').slice(0, 16), bytes };
}

export function newKey(): Key {
  return keyOf(randomBytes(32));
}

export function seal([key]: Keyring, plaintext: string | Uint8Array, associated: string): Buffer {
  const head = Buffer.concat([Buffer.of(version), Buffer.from(key.id, 'hex')]);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce);
  cipher.setAAD(Buffer.concat([head, Buffer.from(associated)]));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([head, nonce, cipher.getAuthTag(), ciphertext]);
}

export function open(keyring: Keyring, sealed: Uint8Array, associated: string): Opened {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const keyId = keyIdOf(bytes);
  if (keyId === undefined) return { kind: 'damaged' };
  const key = keyring.find(({ id }) => id === keyId);
  if (key === undefined) return { kind: 'unknown_key', keyId };
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(idEnd, nonceEnd), { authTagLength: 16 });
  decipher.setAAD(Buffer.concat([bytes.subarray(0, idEnd), Buffer.from(associated)]));
  decipher.setAuthTag(bytes.subarray(nonceEnd, tagEnd));
  try {
    return { kind: 'ok', plaintext: Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]) };
  } catch {
    return { kind: 'damaged' };
  }
}

/** The plaintext as text; undefined if it does not open with these keys. */
export function openText(keyring: Keyring, sealed: Uint8Array, associated: string): string | undefined {
  const opened = open(keyring, sealed, associated);
  return opened.kind === 'ok' ? opened.plaintext.toString('utf8') : undefined;
}

export function hmacSha256(secret: Uint8Array, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}

/** 256 random bits in the URL-safe alphabet, after a prefix that names its purpose. */
export function randomSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}
