import { createHmac } from 'node:crypto';
import type { Delivery } from './delivery.ts';

/** undefined: it matches. Otherwise what is wrong with it, found by trying the usual mistakes and their combinations. */
export function signatureFault(delivery: Delivery, secret: string): string | undefined {
  const { signature, timestamp, raw, json } = delivery;
  if (signature === undefined) return 'There is no X-Webhook-Signature';
  if (timestamp === undefined) return 'Without X-Webhook-Timestamp it cannot be verified';
  const rewritten = json === undefined ? raw : Buffer.from(JSON.stringify(json));
  const texts: readonly (readonly [Buffer, string])[] = [
    [Buffer.concat([Buffer.from(`${timestamp}.`), raw]), ''],
    [raw, 'only the body is signed, without the timestamp and the full stop before it'],
    [Buffer.concat([Buffer.from(timestamp), raw]), 'the full stop between timestamp and body is missing'],
    [
      Buffer.concat([Buffer.from(`${timestamp}.`), rewritten]),
      'the signature is over a different serialization of the JSON than the bytes sent',
    ],
  ];
  const keys: readonly (readonly [string | Buffer, string])[] = [
    [secret, ''],
    [`${secret}\n`, 'the secret ends with a line break'],
    [Buffer.from(secret, 'base64'), 'the secret is decoded from Base64 before use'],
    [Buffer.from(secret, 'hex'), 'the secret is decoded from hex before use'],
  ];
  const algorithms = [
    ['sha512', ''],
    ['sha256', 'it is HMAC-SHA256, not HMAC-SHA512'],
    ['sha1', 'it is HMAC-SHA1, not HMAC-SHA512'],
  ] as const;
  const prefixFault = signature.startsWith('sha512=') ? '' : 'it does not begin with sha512=';
  const digits = signature.replace(/^sha\d+=/, '');
  for (const [text, textFault] of texts) {
    for (const [key, keyFault] of keys) {
      for (const [algorithm, algorithmFault] of algorithms) {
        const writingFault = writing(digits, createHmac(algorithm, key).update(text).digest());
        if (writingFault === undefined) continue;
        const faults = [
          textFault,
          keyFault,
          algorithmFault,
          writingFault,
          algorithmFault === '' ? prefixFault : '',
        ].filter((fault) => fault !== '');
        return faults.length === 0 ? undefined : `It does not match: ${faults.join('; ')}`;
      }
    }
  }
  return 'It does not match, and none of the usual mistakes explains it: check that the secret is the one that was issued';
}

/** How the digest is encoded: '' for lower-case hex, undefined if it is a different digest. */
function writing(digits: string, digest: Buffer): string | undefined {
  if (digits === digest.toString('hex')) return '';
  if (digits === digest.toString('hex').toUpperCase()) return 'the hex digits are in capitals';
  return digits === digest.toString('base64') || digits === digest.toString('base64url')
    ? 'it is Base64, not hex'
    : undefined;
}
