import { createHmac } from 'node:crypto';
import { formOf } from '../redact.ts';
import { ruleTable } from '../rule.ts';
import { type Delivery, each, envelopeOf, type SenderEvidence } from './plan.ts';

/** Rules about method, headers and signature. */
export const requestRules = ruleTable<SenderEvidence>({
  'request.post': {
    title: 'Events are sent by POST to the brand’s URL',
    change: 'Send every event by POST to the issued URL.',
    judge: each(({ method, path }, evidence) =>
      method === 'POST' && path === evidence.path
        ? undefined
        : `${method} ${path === evidence.path ? 'to the URL' : 'to another path'}`,
    ),
  },
  'request.json_type': {
    title: 'Content-Type is application/json',
    change: 'Send Content-Type: application/json.',
    judge: each(({ contentType }) =>
      /^application\/json\s*(;|$)/i.test(contentType) ? undefined : `Content-Type is ${contentType || 'missing'}`,
    ),
  },
  'request.body': {
    title: 'The body is one event, a JSON object in UTF-8',
    change: 'Send one event per request, as a JSON object in UTF-8; do not batch events in arrays.',
    judge: each((delivery) => {
      if (!delivery.utf8) return 'Bytes that are not UTF-8';
      if (delivery.json === undefined) return 'Text that is not JSON';
      if (Array.isArray(delivery.json)) return 'An array of events';
      return envelopeOf(delivery) === undefined ? 'No object' : undefined;
    }),
  },
  'signature.valid': {
    title: 'X-Webhook-Signature matches timestamp, body and secret',
    change:
      'Sign <timestamp>.<raw body> with HMAC-SHA512 and the issued secret, and send sha512= followed by lower-case hex. docs/partners has it in several languages.',
    judge: each((delivery, evidence) => signatureFault(delivery, evidence.secret)),
  },
  'timestamp.seconds': {
    title: 'X-Webhook-Timestamp is Unix time in seconds',
    change: 'Send whole seconds since 1970, digits only.',
    judge: each(({ timestamp }) => {
      if (timestamp === undefined) return 'It is missing';
      if (/^\d{13}$/.test(timestamp)) return 'It is in milliseconds';
      return /^\d{9,10}$/.test(timestamp) ? undefined : `It is written as ${formOf(timestamp.slice(0, 30))}`;
    }),
  },
  'timestamp.now': {
    title: 'X-Webhook-Timestamp is the time of sending, within 5 minutes',
    change: 'Use the time of sending, from a synchronized clock, and update it for each retry.',
    judge: each(
      ({ timestamp, atMs }) => {
        const aheadSeconds = Number(timestamp) - atMs / 1000;
        return Math.abs(aheadSeconds) <= 300
          ? undefined
          : `${Math.round(Math.abs(aheadSeconds))} seconds ${aheadSeconds > 0 ? 'ahead' : 'old'}`;
      },
      ({ timestamp }) => /^\d{9,10}$/.test(timestamp ?? ''),
    ),
  },
});

/** undefined: it matches. Otherwise what is wrong with it, found by trying the usual mistakes and their combinations. */
function signatureFault(delivery: Delivery, secret: string): string | undefined {
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
