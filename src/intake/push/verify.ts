import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { EpochMs } from '../../terms.ts';
import { aroundBody, type SignedText } from './signed-text.ts';
import { headerText, maxSignatures, statedSignature } from './stated-signature.ts';
import { outOfWindow, type TimestampFormat } from './time-window.ts';

/**
 * Verifies that the holder of the secret made the request, and made it recently. Pure: the same arguments give the same
 * verdict. It works on the raw bytes before they are parsed and takes the same steps whatever is wrong: it tries every valid
 * secret, no comparison stops at the first difference, and a request without its headers is hashed as well.
 */
export type Verification = HmacVerification | TokenVerification | StandardWebhooksVerification;

export interface HmacVerification {
  readonly type: 'hmac';
  readonly algorithm: 'sha256' | 'sha512';
  readonly sign: SignedText;
  readonly header: string;
  readonly prefix: string;
  readonly encoding: 'hex' | 'base64';
  readonly timestampHeader?: string;
  /** The header consists of named parts, such as `t=…,v1=…`: the names of those with the time and with a signature. */
  readonly parts?: { readonly timestamp?: string; readonly signature: string };
  /** Of the time; by default the Unix time in seconds. */
  readonly timestampFormat?: TimestampFormat;
  readonly toleranceS: number;
}

interface TokenVerification {
  readonly type: 'token';
  /** Exactly one of header and query. */
  readonly header?: string;
  readonly prefix: string;
  readonly query?: string;
}

interface StandardWebhooksVerification {
  readonly type: 'standard_webhooks';
  /** The prefix of its header names: `webhook` or `svix`. */
  readonly headers: string;
  readonly toleranceS: number;
}

export const defaultVerification: HmacVerification = {
  type: 'hmac',
  algorithm: 'sha512',
  sign: 'timestamp.body',
  header: 'x-webhook-signature',
  prefix: 'sha512=',
  encoding: 'hex',
  timestampHeader: 'x-webhook-timestamp',
  toleranceS: 300,
};

/** One of the secrets that are valid now. `bytes` is its text as issued, in UTF-8. */
export interface Secret {
  readonly secretNo: number;
  readonly bytes: Buffer;
  readonly key: KeyObject;
  /** The key of Standard Webhooks: what follows `whsec_`, decoded. */
  readonly standardKey: KeyObject;
  readonly expiresAt?: EpochMs;
}

export type Refusal =
  | 'timestamp_missing'
  | 'timestamp_malformed'
  | 'timestamp_old'
  | 'timestamp_ahead'
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_wrong'
  | 'id_missing'
  | 'no_valid_secret';

export type Verdict =
  | { readonly kind: 'verified'; readonly secretNo: number }
  /** The reason is for the operator and the sandbox report; a live sender gets the same answer for every reason. */
  | { readonly kind: 'refused'; readonly reason: Refusal; readonly skewS?: number };

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface Request {
  readonly headers: Headers;
  /** The raw query string, without the question mark. */
  readonly query: string;
  readonly rawBody: Buffer;
}

export function verify(
  verification: Verification,
  request: Request,
  secrets: readonly Secret[],
  now: EpochMs,
): Verdict {
  const valid = secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
  switch (verification.type) {
    case 'hmac':
      return verifyHmac(verification, request, valid, now);
    case 'token':
      return verifyToken(verification, request, valid);
    case 'standard_webhooks':
      return verifyStandard(verification, request, valid, now);
  }
}

function verifyHmac(scheme: HmacVerification, request: Request, secrets: readonly Secret[], now: EpochMs): Verdict {
  const { timestamp, header, macs } = statedSignature(scheme, request.headers);
  const given = scheme.encoding === 'hex' ? macs.map((mac) => mac.toLowerCase()) : macs;
  const [before, after] = aroundBody(scheme.sign, timestamp ?? '');
  let secretNo: number | undefined;
  for (const secret of secrets) {
    const hmac = createHmac(scheme.algorithm, secret.key).update(before).update(request.rawBody);
    if (after !== '') hmac.update(after);
    const expected = hmac.digest(scheme.encoding);
    for (const mac of given) if (sameText(mac, expected)) secretNo ??= secret.secretNo;
  }
  const isTimed = scheme.timestampHeader !== undefined || scheme.parts?.timestamp !== undefined;
  const late = isTimed ? outOfWindow(timestamp, scheme.toleranceS, now, scheme.timestampFormat) : undefined;
  if (late) return late;
  if (secretNo !== undefined) return { kind: 'verified', secretNo };
  const isWellFormed = given.some((mac) => macForms[scheme.algorithm][scheme.encoding].test(mac));
  return lacking(header, isWellFormed, secrets) ?? { kind: 'refused', reason: 'signature_wrong' };
}

/** Compares HMACs under one key, so that the time reveals neither the length nor the position of a difference. */
function verifyToken(scheme: TokenVerification, request: Request, secrets: readonly Secret[]): Verdict {
  const { header, query } = scheme;
  const value =
    header === undefined
      ? new URLSearchParams(request.query).get(query ?? '')?.toString()
      : headerText(request.headers, header);
  const prefixed = header === undefined || value === undefined || value.startsWith(scheme.prefix);
  const token = Buffer.from(header === undefined ? (value ?? '') : (value ?? '').slice(scheme.prefix.length));
  let secretNo: number | undefined;
  for (const secret of secrets) {
    const stated = createHmac('sha256', secret.key).update(token).digest();
    const expected = createHmac('sha256', secret.key).update(secret.bytes).digest();
    if (timingSafeEqual(stated, expected)) secretNo ??= secret.secretNo;
  }
  return (
    lacking(value, prefixed, secrets) ??
    (secretNo === undefined ? { kind: 'refused', reason: 'signature_wrong' } : { kind: 'verified', secretNo })
  );
}

/** standardwebhooks.com: `id.timestamp.body` under HMAC-SHA256, several signatures separated by spaces, each `v1,` and base64. */
function verifyStandard(
  scheme: StandardWebhooksVerification,
  request: Request,
  secrets: readonly Secret[],
  now: EpochMs,
): Verdict {
  const id = headerText(request.headers, `${scheme.headers}-id`);
  const timestamp = headerText(request.headers, `${scheme.headers}-timestamp`);
  const signature = headerText(request.headers, `${scheme.headers}-signature`);
  const given = (signature ?? '')
    .split(' ', maxSignatures)
    .map((one) => (one.startsWith('v1,') ? exactBase64(one.slice(3)) : undefined))
    .filter((bytes) => bytes?.length === digestLength.sha256);
  let secretNo: number | undefined;
  for (const secret of secrets) {
    const hmac = createHmac('sha256', secret.standardKey).update(`${id ?? ''}.${timestamp ?? ''}.`);
    const expected = hmac.update(request.rawBody).digest();
    for (const stated of given) if (stated && timingSafeEqual(expected, stated)) secretNo ??= secret.secretNo;
  }
  if (id === undefined || id === '') return { kind: 'refused', reason: 'id_missing' };
  return (
    outOfWindow(timestamp, scheme.toleranceS, now) ??
    lacking(signature, given.length > 0, secrets) ??
    (secretNo === undefined ? { kind: 'refused', reason: 'signature_wrong' } : { kind: 'verified', secretNo })
  );
}

const digestLength = { sha256: 32, sha512: 64 } as const;

function lacking(stated: string | undefined, wellFormed: boolean, secrets: readonly Secret[]): Verdict | undefined {
  if (stated === undefined || stated === '') return { kind: 'refused', reason: 'signature_missing' };
  if (!wellFormed) return { kind: 'refused', reason: 'signature_malformed' };
  return secrets.length === 0 ? { kind: 'refused', reason: 'no_valid_secret' } : undefined;
}

const macForms = {
  sha256: { hex: /^[0-9a-f]{64}$/, base64: /^[A-Za-z0-9+/]{43}=$/ },
  sha512: { hex: /^[0-9a-f]{128}$/, base64: /^[A-Za-z0-9+/]{86}==$/ },
} as const;

const left = Buffer.alloc(128);
const right = Buffer.alloc(128);

/**
 * Compares a text with a digest in constant time. It uses texts and shared buffers: with a new buffer for each digest, the HMAC of
 * a typical event took 1.4 times as long. The buffers keep one byte of a character, so the texts are compared too once the bytes are equal.
 */
function sameText(stated: string, expected: string): boolean {
  left.fill(0).write(stated, 'latin1');
  right.fill(0).write(expected, 'latin1');
  return timingSafeEqual(left, right) && stated === expected;
}

/** Buffer.from silently stops at the first character that is not base64; this refuses such texts. */
function exactBase64(encoded: string): Buffer | undefined {
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes : undefined;
}
