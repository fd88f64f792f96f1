import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HmacVerification, Refusal, Request, Secret, Verification } from './verification.ts';
import { aroundBody, signedBody, signedPart, statedSignature } from './verify.ts';

/**
 * Finds the likely mistake behind a wrong signature by trying the common ones. Only the sandbox uses it; a live endpoint
 * reveals nothing.
 */
export function diagnose(
  verification: Verification,
  request: Request,
  secrets: readonly Secret[],
): Pick<SignedOtherwise, 'explain' | 'part'> | undefined {
  if (verification.type !== 'hmac') return undefined;
  const { timestamp, header, macs } = statedSignature(verification, request.headers);
  if (header === undefined) return undefined;
  const sent = macs.length > 0 ? macs : [header];
  for (const { body, algorithm, string, after, key, ...mistake } of mistakes(verification, request, timestamp ?? '')) {
    for (const secret of secrets) {
      const hmac = createHmac(algorithm, key === 'decoded' ? secret.standardKey : secret.key);
      const bytes = hmac.update(string).update(body).update(after).digest();
      if (sent.some((mac) => encodes(mac, bytes))) return mistake;
    }
  }
  return undefined;
}

/** The part of a signed request that is wrong. */
export const wrongParts = ['time', 'body', 'secret', 'encoding', 'method', 'missing'] as const;
type WrongPart = (typeof wrongParts)[number];

interface SignedOtherwise {
  readonly explain: string;
  readonly part: WrongPart;
  readonly algorithm: HmacVerification['algorithm'];
  /** The signed text before and after the body. */
  readonly string: string;
  readonly after: string;
  readonly body: Buffer;
  readonly key?: 'decoded';
}

function* mistakes(scheme: HmacVerification, request: Request, timestamp: string): Generator<SignedOtherwise> {
  const { algorithm, encoding, sign } = scheme;
  const body = signedBody(sign, request.rawBody);
  const prefix = scheme.parts === undefined ? scheme.prefix : `${scheme.parts.signature}=`;
  const [string, after] = aroundBody(sign, signedPart(request, timestamp));
  const right = { algorithm, string, after, body };
  const encoded = `The signature itself is correct; encode it as ${encoding} after the prefix "${prefix}".`;
  yield { ...right, part: 'encoding', explain: encoded };
  const decoded = 'Use the whole secret as issued, as text, for the key. Its base64 part was decoded.';
  yield { ...right, key: 'decoded', part: 'secret', explain: decoded };
  if (sign === 'timestamp.body') {
    const explain = 'The dot between the timestamp and the body is missing in the signed string.';
    yield { ...right, string: timestamp, part: 'method', explain };
  }
  for (const other of ['sha512', 'sha256', 'sha1'] as const) {
    if (other === algorithm) continue;
    const explain = `The signature was made with HMAC-${other.toUpperCase()}; use HMAC-${algorithm.toUpperCase()}.`;
    yield { ...right, algorithm: other, part: 'method', explain };
  }
  if (string !== '' || after !== '') {
    const text = sign === 'timestamp.body' ? 'the timestamp, a dot, and the body' : sign;
    yield { ...right, part: 'method', string: '', after: '', explain: `Only the body was signed. Sign ${text}.` };
  }
  for (const [signed, how] of rewritten(body)) {
    const explain = `The signed body differs from the sent body: ${how}. Sign exactly the bytes that you send.`;
    yield { ...right, body: signed, part: 'body', explain };
  }
}

/** Variants of the body that a sender may have signed by mistake. */
function rewritten(raw: Buffer): [Buffer, string][] {
  const pairs: [Buffer, string][] = [];
  const text = raw.toString('utf8');
  if (text.trimEnd() !== text) pairs.push([Buffer.from(text.trimEnd()), 'it has no trailing line break']);
  else pairs.push([Buffer.from(`${text}\n`), 'it has a trailing line break']);
  pairs.push([Buffer.alloc(0), 'it is empty']);
  try {
    const value: unknown = JSON.parse(text);
    pairs.push([Buffer.from(JSON.stringify(value)), 'it is the JSON without spaces']);
    pairs.push([Buffer.from(JSON.stringify(value, null, 2)), 'it is the JSON with line breaks']);
    pairs.push([Buffer.from(spaced(value)), 'it is the JSON with spaces after commas and colons']);
    pairs.push([Buffer.from(escaped(spaced(value))), 'it is the JSON with spaces, and with letters as \\u escapes']);
    pairs.push([Buffer.from(escaped(JSON.stringify(value))), 'it is the JSON with letters as \\u escapes']);
    pairs.push([Buffer.from(JSON.stringify(sorted(value))), 'it is the JSON with its keys in alphabetical order']);
    const { data } = value as { data?: unknown };
    if (data !== undefined) pairs.push([Buffer.from(JSON.stringify(data)), 'it is only the data']);
  } catch {
    // Not JSON: nothing else to try.
  }
  return pairs;
}

/** JSON as Python's json.dumps writes it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${spaced(one)}`)
    .join(', ')}}`;
}

const escaped = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
}

/** Whether the text encodes these bytes as hex or base64, with or without a prefix. */
function encodes(sent: string, bytes: Buffer): boolean {
  const bare = sent.replace(/^(?:sha\d+|v1|hmac)[=:,]/i, '').trim();
  return (['hex', 'base64', 'base64url'] as const).some((encoding) => {
    const stated = Buffer.from(bare, encoding);
    return stated.length === bytes.length && timingSafeEqual(stated, bytes);
  });
}

/** What is wrong where no usual mistake explains it, and in which part. */
const refusals: Record<Refusal, readonly [part: WrongPart, explain: string]> = {
  timestamp_missing: ['missing', 'The timestamp is missing.'],
  timestamp_malformed: [
    'time',
    'The timestamp does not have the expected format. By default it is the Unix time in whole seconds: digits only, no milliseconds.',
  ],
  timestamp_old: ['time', 'The timestamp is too old: sign every attempt again with the current time.'],
  timestamp_ahead: ['time', 'The timestamp is ahead of our clock: synchronize the sender’s clock.'],
  signature_missing: ['missing', 'The signature is missing.'],
  signature_malformed: ['encoding', 'The signature does not have the expected format.'],
  signature_wrong: ['secret', 'The signature does not match this body, timestamp and secret.'],
  id_missing: ['missing', 'The message id header is missing.'],
  no_valid_secret: ['secret', 'The endpoint has no valid secret.'],
};

export function explain(reason: Refusal, hint: ReturnType<typeof diagnose>): { part: WrongPart; explanation: string } {
  const [part, text] = refusals[reason];
  return hint === undefined ? { part, explanation: text } : { part: hint.part, explanation: `${text} ${hint.explain}` };
}
