import { foreignText, isVocabulary } from '../../kit/foreign-text.ts';
import { parseJson } from '../../kit/json.ts';
import { ownWords } from '../../kit/own-words.ts';
import type { Json } from '../../terms.ts';
import type { Answered } from '../outbound/http.ts';
import { retryAfterMs } from '../outbound/retry-after.ts';
import type { Outcome } from './destination.ts';

/**
 * | answer              | outcome of the delivery                                                       |
 * |---------------------|-------------------------------------------------------------------------------|
 * | 2xx                 | delivered                                                                     |
 * | 2xx with a web page | retried: a maintenance or sign-in page before the API took nothing            |
 * | 429 with a wait     | waits that long without using a try; other records flow past (busy.ts)        |
 * | 429, 408, 425, 5xx  | retried on the schedule                                                       |
 * | 401, 403            | our credentials are refused (after one renewal): deliveries wait (circuit.ts) |
 * | any other 3xx, 4xx  | dead: refused for good                                                        |
 * | no answer           | retried on the schedule; a private address that is not allowed is dead        |
 * The message has the answer's own explanation, without the values of the `sent` body.
 */
export function outcomeOf(answered: Answered, nowMs: number, sent: string | undefined): Outcome {
  const durationMs = Math.round(answered.durationMs);
  if (answered.kind === 'failed') return { ...failure(answered), durationMs };
  const { status, headers } = answered;
  const known = { status, durationMs };
  if (status >= 200 && status < 300 && !isWebPage(headers, answered.bytes)) return { kind: 'delivered', ...known };
  const afterMs = askedWaitMs(headers, nowMs);
  const answer = beginning(answered.bytes);
  const message = `The destination answered ${status}${vendorWords(sent)(undefined, ownWords(answer))}.`;
  const details = { ...known, message, answer };
  if (status < 300) {
    const page = `${message.replace(/\.$/, '')} with a web page: something before its API answered, and nothing was taken.`;
    return { kind: 'retry', code: 'deliver.web_page', ...details, message: page };
  }
  if (status === 429) {
    const wait = afterMs === undefined ? {} : { afterMs, free: true };
    return { kind: 'retry', code: 'deliver.rate_limited', ...details, ...wait };
  }
  if (status === 408 || status === 425 || status >= 500) {
    return { kind: 'retry', code: 'deliver.server_error', ...details, ...(afterMs !== undefined && { afterMs }) };
  }
  if (status === 401 || status === 403) return { kind: 'retry', code: 'deliver.auth_failed', ...details };
  return { kind: 'dead', code: 'deliver.refused', ...details };
}

/** An HTML document, not the few words that some scripts send as HTML. */
const isWebPage = (headers: Headers, bytes: Uint8Array): boolean =>
  (headers['content-type'] ?? '').startsWith('text/html') && /^\s*<(!doctype html|html)\b/i.test(beginning(bytes));

/** The wait that a Retry-After, or else the end of the vendor's window, asks for. Dates are compared with the destination's clock, not ours. */
export function askedWaitMs(headers: Headers, nowMs: number): number | undefined {
  const date = Date.parse(headers.date ?? '');
  const theirNowMs = Number.isNaN(date) ? nowMs : date;
  const reset = rateHeader(headers, 'reset');
  // Klaviyo and Brevo send seconds, Braze a Unix time.
  const leftMs = Number(reset) > 1e9 ? Math.max(0, Number(reset) * 1_000 - theirNowMs) : Number(reset) * 1_000;
  const windowMs = reset === undefined || Number.isNaN(leftMs) ? undefined : leftMs;
  return retryAfterMs(headers['retry-after'], theirNowMs) ?? windowMs;
}

/** The wait before the next request after an answer that used up the vendor's window; 0 if it did not. */
export function usedUpMs(headers: Headers, nowMs: number): number {
  if (rateHeader(headers, 'remaining') !== '0') return 0;
  // HubSpot says how long its window is, not when it ends.
  return askedWaitMs(headers, nowMs) ?? (Number(rateHeader(headers, 'interval-milliseconds')) || 0);
}

type Headers = Readonly<Record<string, string>>;

/** RateLimit-Remaining, x-sib-ratelimit-remaining, X-HubSpot-RateLimit-Remaining. */
const rateHeader = (headers: Headers, what: string): string | undefined =>
  headers[Object.keys(headers).find((name) => name.endsWith(`ratelimit-${what}`)) ?? ''];

function failure({ reason, message }: Answered & { kind: 'failed' }): Outcome {
  switch (reason) {
    case 'blocked':
      return { kind: 'dead', code: 'deliver.blocked_address', message: `${message}.` };
    case 'redirect':
      return { kind: 'dead', code: 'deliver.refused', message: `${message}; redirects are not followed.` };
    case 'unsendable':
      return { kind: 'dead', code: 'deliver.refused', message: `${message}.` };
    case 'timeout':
    case 'aborted':
      return { kind: 'retry', code: 'deliver.timeout', message: `${message}.` };
    default:
      return { kind: 'retry', code: 'deliver.unreachable', message: `${message}.` };
  }
}

export const keptBytes = 2_048;

/** The part of an answer that is kept for the operator. */
export function beginning(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, keptBytes));
}

/**
 * The vendor's code and reason for a message. Vendors name the fields that were sent, and quote what they refuse: the names stay, and every
 * word that was among the values of the request is cut out. The answer itself is kept behind the view of payloads.
 */
export function vendorWords(
  sent: string | undefined,
  codes: readonly string[] = [],
): (code?: string, reason?: string) => string {
  let words: Words | undefined;
  const isKnown = (word: string): boolean => {
    words ??= wordsOf(sent);
    const folded = word.toLowerCase();
    return words.values.has(folded) ? common.has(folded) : isVocabulary(word) || words.names.has(folded);
  };
  return (code, reason) => {
    // A code is a name. Anything else in its place may be a sentence about a guest.
    const name = code === undefined || codes.includes(code) ? code : /\s/.test(code) ? '' : foreignText(code, isKnown);
    const named = name === undefined || name === '' ? '' : ` (${name})`;
    const rest = reason === undefined ? '' : foreignText(reason, isKnown);
    return rest === '' ? named : `${named}: ${rest}`;
  };
}

const word = /[\p{L}\p{N}]+/gu;
/** Words of remarks that make up the reason's own sentence. */
const common = new Set(
  'a an and are as at be been by can cannot does email exist exists failed field for from has have in invalid is it missing more must no not of on or phone required than that the this to too unknown valid value was were with you your'.split(
    ' ',
  ),
);

interface Words {
  readonly names: Set<string>;
  readonly values: Set<string>;
}

function wordsOf(sent: string | undefined): Words {
  const words: Words = { names: new Set(), values: new Set() };
  const add = (to: Set<string>, text: string) => {
    for (const [one] of text.matchAll(word)) to.add(one.toLowerCase());
  };
  const look = (value: Json): void => {
    if (typeof value === 'string' || typeof value === 'number') add(words.values, String(value));
    else if (typeof value === 'object' && value !== null) {
      if (!Array.isArray(value)) for (const name of Object.keys(value)) add(words.names, name);
      for (const one of Object.values(value)) look(one);
    }
  };
  if (sent !== undefined) look(parseJson(sent));
  return words;
}
