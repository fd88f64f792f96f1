import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Headers, HmacVerification, Refusal, Request, Secret, Verification } from './verify.ts';

/**
 * What a sender most likely did when its signature is wrong: the mistakes that are made again and again, tried one by one.
 * Only the sandbox uses it; a live endpoint tells nothing.
 */
export function diagnose(verification: Verification, request: Request, secrets: readonly Secret[]): string | undefined {
  if (verification.type !== 'hmac') return undefined;
  const sent = header(request.headers, verification.header);
  if (sent === undefined) return undefined;
  const timestamp = verification.timestampHeader && header(request.headers, verification.timestampHeader);
  for (const { explain, body, algorithm, string, key } of mistakes(verification, request.rawBody, timestamp ?? '')) {
    for (const secret of secrets) {
      const bytes = createHmac(algorithm, key === 'decoded' ? secret.standardKey : secret.key)
        .update(string)
        .update(body)
        .digest();
      if (wears(sent, bytes)) return explain;
    }
  }
  return undefined;
}

interface Mistake {
  readonly explain: string;
  readonly algorithm: 'sha256' | 'sha512' | 'sha1';
  readonly string: string;
  readonly body: Buffer;
  readonly key?: 'decoded';
}

function mistakes(scheme: HmacVerification, raw: Buffer, timestamp: string): Mistake[] {
  const { algorithm, prefix, encoding } = scheme;
  const string = scheme.sign === 'timestamp.body' ? `${timestamp}.` : '';
  const right = { algorithm, string, body: raw };
  const found: Mistake[] = [
    { ...right, explain: `The signature itself is right; it must be written in ${encoding} after "${prefix}".` },
    {
      ...right,
      key: 'decoded',
      explain: 'The key must be the whole secret as issued, as text; its base64 part was decoded.',
    },
    {
      ...right,
      string: timestamp,
      explain: 'The point between timestamp and body is missing in the string that was signed.',
    },
  ];
  for (const other of ['sha512', 'sha256', 'sha1'] as const) {
    if (other !== algorithm) {
      found.push({
        ...right,
        algorithm: other,
        explain: `It was made with HMAC-${other.toUpperCase()}; ${algorithm.toUpperCase()} is asked for.`,
      });
    }
  }
  if (string !== '')
    found.push({
      ...right,
      string: '',
      explain: 'Only the body was signed; the string to sign is the timestamp, a point, and the body.',
    });
  for (const [body, how] of rewritten(raw)) {
    found.push({
      ...right,
      body,
      explain: `Another body was signed than the one that was sent: ${how}. Sign the very bytes that go out.`,
    });
  }
  return found;
}

/** The body as a sender may have had it in hand when it signed. */
function rewritten(raw: Buffer): [Buffer, string][] {
  const found: [Buffer, string][] = [];
  const text = raw.toString('utf8');
  if (text.trimEnd() !== text) found.push([Buffer.from(text.trimEnd()), 'without the line end']);
  else found.push([Buffer.from(`${text}\n`), 'with a line end']);
  found.push([Buffer.alloc(0), 'an empty one']);
  try {
    const value: unknown = JSON.parse(text);
    found.push([Buffer.from(JSON.stringify(value)), 'the JSON without spaces']);
    found.push([Buffer.from(JSON.stringify(value, null, 2)), 'the JSON with line breaks']);
    found.push([Buffer.from(spaced(value)), 'the JSON with spaces after commas and colons']);
    const { data } = value as { data?: unknown };
    if (data !== undefined) found.push([Buffer.from(JSON.stringify(data)), 'only the data']);
  } catch {
    // Not JSON: nothing else to try.
  }
  return found;
}

/** As Python's json.dumps writes it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${spaced(one)}`)
    .join(', ')}}`;
}

/** Whether the text holds these bytes, in whatever dress: hex or base64, with or without a prefix. */
function wears(sent: string, bytes: Buffer): boolean {
  const bare = sent.replace(/^(?:sha\d+|v1|hmac)[=:,]/i, '').trim();
  return (['hex', 'base64', 'base64url'] as const).some((encoding) => {
    const stated = Buffer.from(bare, encoding);
    return stated.length === bytes.length && timingSafeEqual(stated, bytes);
  });
}

const explanations: Record<Refusal, string> = {
  timestamp_missing: 'The header with the timestamp is missing.',
  timestamp_malformed: 'The timestamp must be the Unix time in whole seconds: digits only, no milliseconds.',
  timestamp_old: 'The timestamp is too old: sign each try anew, with the time of sending.',
  timestamp_ahead: 'The timestamp is ahead of our clock: synchronize the sender’s clock.',
  signature_missing: 'The header with the signature is missing.',
  signature_malformed: 'The signature has not the form that is asked for.',
  signature_wrong: 'The signature is not the one of this body, timestamp and secret.',
  id_missing: 'The header with the message’s id is missing.',
  no_valid_secret: 'The endpoint has no valid secret.',
};

export function explain(reason: Refusal): string {
  return explanations[reason];
}

function header(headers: Headers, name: string): string | undefined {
  const key = name.toLowerCase();
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  return Array.isArray(value) ? value.join(', ') : value;
}
