import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EpochMs } from '../../../terms.ts';
import {
  type Headers,
  type HmacVerification,
  leastSecret,
  type Request,
  type Secret,
  type SignatureCheck,
  type StandardWebhooksVerification,
  type TimestampFormat,
  type TokenVerification,
  type Verification,
} from './verification.ts';

/**
 * Verifies that the holder of the secret made the request, and made it recently. Pure: the same arguments give the same
 * verdict. It works on the raw bytes before they are parsed and takes the same steps whatever is wrong: it tries every valid
 * secret, no comparison stops at the first difference, and a request without its headers is hashed as well.
 */
export function verify(
  verification: Verification,
  request: Request,
  secrets: readonly Secret[],
  now: EpochMs,
): SignatureCheck {
  const valid = secrets.filter(
    ({ bytes, expiresAt }) => bytes.length >= leastSecret && (expiresAt === undefined || expiresAt > now),
  );
  switch (verification.type) {
    case 'hmac':
      return verifyHmac(verification, request, valid, now);
    case 'token':
      return verifyToken(verification, request, valid, ({ bytes }) => bytes);
    case 'basic': {
      const password = (secret: Secret) => Buffer.concat([Buffer.from(`${verification.username}:`), secret.bytes]);
      const basic = { type: 'token', header: 'authorization', prefix: 'Basic ' } as const;
      return verifyToken(basic, request, valid, (secret) => Buffer.from(password(secret).toString('base64')));
    }
    case 'standard_webhooks':
      return verifyStandard(verification, request, valid, now);
  }
}

function verifyHmac(
  scheme: HmacVerification,
  request: Request,
  secrets: readonly Secret[],
  now: EpochMs,
): SignatureCheck {
  const { timestamp, header, macs } = statedSignature(scheme, request.headers);
  const given = scheme.encoding === 'hex' ? macs.map((mac) => mac.toLowerCase()) : macs;
  const [before, after] = aroundBody(scheme.sign, signedPart(request, timestamp ?? ''));
  const body = signedBody(scheme.sign, request.rawBody);
  let secretNo: number | undefined;
  for (const secret of secrets) {
    const hmac = createHmac(scheme.algorithm, secret.key).update(before).update(body);
    if (after !== '') hmac.update(after);
    const expected = hmac.digest(scheme.encoding);
    for (const mac of given) if (sameText(mac, expected)) secretNo ??= secret.secretNo;
  }
  const isTimed = scheme.timestampHeader !== undefined || scheme.parts?.timestamp !== undefined;
  const late = isTimed ? outOfWindow(timestamp, scheme.toleranceS, now, scheme.timestampFormat) : undefined;
  const isWellFormed = given.some((mac) => macForms[scheme.algorithm][scheme.encoding].test(mac));
  return late ?? verdict(header, isWellFormed, secrets, secretNo);
}

/** Compares HMACs under one key, so that the time reveals neither the length nor the position of a difference. */
function verifyToken(
  scheme: TokenVerification,
  request: Request,
  secrets: readonly Secret[],
  tokenOf: (secret: Secret) => Buffer,
): SignatureCheck {
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
    const expected = createHmac('sha256', secret.key).update(tokenOf(secret)).digest();
    if (timingSafeEqual(stated, expected)) secretNo ??= secret.secretNo;
  }
  return verdict(value, prefixed, secrets, secretNo);
}

/** standardwebhooks.com: `id.timestamp.body` under HMAC-SHA256, several signatures separated by spaces, each `v1,` and base64. */
function verifyStandard(
  scheme: StandardWebhooksVerification,
  request: Request,
  secrets: readonly Secret[],
  now: EpochMs,
): SignatureCheck {
  const id = headerText(request.headers, `${scheme.headers}-id`);
  const timestamp = headerText(request.headers, `${scheme.headers}-timestamp`);
  const signature = headerText(request.headers, `${scheme.headers}-signature`);
  const given = (signature ?? '')
    .split(' ', maxSignatures)
    .map((one) => (one.startsWith('v1,') ? exactBase64(one.slice(3)) : undefined))
    .filter((bytes) => bytes?.length === sha256Bytes);
  let secretNo: number | undefined;
  for (const secret of secrets) {
    const hmac = createHmac('sha256', secret.standardKey).update(`${id ?? ''}.${timestamp ?? ''}.`);
    const expected = hmac.update(request.rawBody).digest();
    for (const stated of given) if (stated && timingSafeEqual(expected, stated)) secretNo ??= secret.secretNo;
  }
  if (id === undefined || id === '') return { kind: 'refused', reason: 'id_missing' };
  return outOfWindow(timestamp, scheme.toleranceS, now) ?? verdict(signature, given.length > 0, secrets, secretNo);
}

const sha256Bytes = 32;

function verdict(
  stated: string | undefined,
  wellFormed: boolean,
  secrets: readonly Secret[],
  secretNo: number | undefined,
): SignatureCheck {
  if (stated === undefined || stated === '') return { kind: 'refused', reason: 'signature_missing' };
  if (!wellFormed) return { kind: 'refused', reason: 'signature_malformed' };
  if (secrets.length === 0) return { kind: 'refused', reason: 'no_valid_secret' };
  return secretNo === undefined ? { kind: 'refused', reason: 'signature_wrong' } : { kind: 'verified', secretNo };
}

const macForms = {
  md5: { hex: /^[0-9a-f]{32}$/, base64: /^[A-Za-z0-9+/]{22}==$/ },
  sha1: { hex: /^[0-9a-f]{40}$/, base64: /^[A-Za-z0-9+/]{27}=$/ },
  sha256: { hex: /^[0-9a-f]{64}$/, base64: /^[A-Za-z0-9+/]{43}=$/ },
  sha512: { hex: /^[0-9a-f]{128}$/, base64: /^[A-Za-z0-9+/]{86}==$/ },
} as const;

const left = Buffer.alloc(128);
const right = Buffer.alloc(128);

/**
 * Compares a text with a digest in constant time. It uses texts and shared buffers: with a new buffer for each digest, the HMAC of
 * a typical event took 1.4 times as long. The buffers keep one byte of a character, so the texts are compared too once the bytes are equal.
 */
export function sameText(stated: string, expected: string): boolean {
  left.fill(0).write(stated, 'latin1');
  right.fill(0).write(expected, 'latin1');
  return timingSafeEqual(left, right) && stated === expected;
}

/** Buffer.from silently stops at the first character that is not base64; this refuses such texts. */
function exactBase64(encoded: string): Buffer | undefined {
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes : undefined;
}

/** Refuses a time that is missing, malformed, or further from our clock than the tolerance. */
function outOfWindow(
  timestamp: string | undefined,
  toleranceS: number,
  now: EpochMs,
  format: TimestampFormat = 'seconds',
): SignatureCheck | undefined {
  if (timestamp === undefined || timestamp === '') return { kind: 'refused', reason: 'timestamp_missing' };
  const statedS = secondsIn(timestamp, format);
  if (statedS === undefined) return { kind: 'refused', reason: 'timestamp_malformed' };
  const skewS = Math.floor(now / 1000) - statedS;
  if (skewS > toleranceS) return { kind: 'refused', reason: 'timestamp_old', skewS };
  if (skewS < -toleranceS) return { kind: 'refused', reason: 'timestamp_ahead', skewS };
  return undefined;
}

/** Whole seconds or milliseconds only: signs, blanks, fractions, leading zeros and the other unit are malformed. */
export function secondsIn(timestamp: string, format: TimestampFormat = 'seconds'): number | undefined {
  if (format === 'seconds') return /^[1-9][0-9]{0,10}$/.test(timestamp) ? Number(timestamp) : undefined;
  if (format === 'milliseconds') {
    return /^[1-9][0-9]{11,13}$/.test(timestamp) ? Math.floor(Number(timestamp) / 1000) : undefined;
  }
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(timestamp);
  const ms = isInstant ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

const maxSignatures = 10;

/** What the headers of a request state about its signature, as written, without the prefix or the name of a part. Nothing is verified yet. */
export function statedSignature(scheme: HmacVerification, headers: Headers) {
  const { parts, prefix, timestampHeader } = scheme;
  const header = headerText(headers, scheme.header);
  const apart = timestampHeader === undefined ? undefined : headerText(headers, timestampHeader);
  if (parts === undefined) {
    const isPrefixed = header?.startsWith(prefix) === true;
    return { timestamp: apart, header, macs: isPrefixed ? [header.slice(prefix.length)] : [] };
  }
  const macs = valuesOf(header, parts.signature).slice(0, maxSignatures);
  // Two timestamps stay together and are malformed.
  const timestamp = parts.timestamp === undefined ? apart : valuesOf(header, parts.timestamp).join(', ');
  return { timestamp, header: macs.length > 0 ? header : undefined, macs };
}

/** The values of the parts with this name, in `t=1772357400,v1=5257a8…,v1=9f0c3b…`. A semicolon separates parts too. */
function valuesOf(header: string | undefined, name: string): string[] {
  return (header ?? '').split(/[,;]/).flatMap((part) => {
    const [key = '', ...value] = part.split('=');
    const text = value.join('=').trim();
    return key.trim() === name && text !== '' ? [text] : [];
  });
}

/** The parts of a request that a template may sign; endpoints take no method but POST. */
export function signedPart({ headers, url = '' }: Request, timestamp: string): (name: string) => string {
  return (name) => {
    if (name === 'timestamp') return timestamp;
    if (name === 'method') return 'POST';
    return name === 'url' ? url : (headerText(headers, name.replace('header.', '')) ?? '');
  };
}

/** A repeated header is joined by commas: without `parts` it then matches no signature's form. */
function headerText(headers: Headers, name: string): string | undefined {
  const key = name.toLowerCase();
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * The text before and after the raw body; `partOf` gives the value of a placeholder. The template is divided first: a timestamp that reads
 * {body} is only a wrong timestamp.
 */
export function aroundBody(sign: string, partOf: (name: string) => string): readonly [string, string] {
  if (sign === 'timestamp.body') return [`${partOf('timestamp')}.`, ''];
  if (sign === 'body') return ['', ''];
  const filled = (text: string) =>
    text.replace(/\{(timestamp|method|url|header\.[\w-]+)\}/g, (_, name: string) => partOf(name));
  const [before = '', after = ''] = sign.split(/\{body(?:_base64)?\}/).map(filled);
  return [before, after];
}

/** The body as it is signed. */
export const signedBody = (sign: string, rawBody: Buffer): Buffer =>
  sign.includes('{body_base64}') ? Buffer.from(rawBody.toString('base64').replace(/.{1,60}/g, '$&\n')) : rawBody;
