import { isUtf8 } from 'node:buffer';
import type { Json } from '../terms.ts';

/**
 * JSON in and out without losing a digit. JSON.parse rounds numbers to doubles: a 20-digit reservation id would arrive as
 * another id. A number that a double cannot hold exactly is read as text; a decimal kept as text is written as a
 * number through `rawNumber`.
 */

/**
 * A double rounds numbers of sixteen digits and more (counting a point), or with an exponent. Most bodies have none and
 * skip the reviver, which costs three times as much. A number follows one of these characters, so that ids in
 * quotes, which often contain 4e12, do not match: 2.2 µs for 1,100 bytes, against 8.9 µs without the character.
 */
const maybeInexact = /[:,[\s]-?\d(?:[\d.]{15}|[\d.]*[eE])/;
const bareNumber = /^-?\d/;

export function parseJson(text: string): Json {
  const exact = !maybeInexact.test(text) && !bareNumber.test(text);
  return (exact ? JSON.parse(text) : JSON.parse(text, keepDigits)) as Json;
}

const deepest = 64;

/** JSON that somebody else wrote. Throws a SyntaxError for text that is nested deeper than any code that walks the value survives. */
export function parseForeignJson(text: string): Json {
  const value = parseJson(text);
  if (isTooDeep(value)) throw new SyntaxError(`it is nested deeper than ${deepest} levels`);
  return value;
}

/** JSON.parse survives any depth. So does this: it goes level by level. */
export function isTooDeep(value: unknown, levels = deepest): boolean {
  let level = [value];
  for (let depth = 0; depth <= levels; depth++) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return Number.isFinite(value) && significant(String(value)) === significant(context.source) ? value : context.source;
}

/** Digits without leading and trailing zeros, and their power of ten: equal for equal values. */
function significant(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const negative = mantissa.startsWith('-');
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.');
  const leading = (whole + fraction).replace(/^0+/, '');
  const digits = leading.replace(/0+$/, '');
  if (digits === '') return '0';
  const power = Number(exponent) - fraction.length + (leading.length - digits.length);
  return `${negative ? '-' : ''}${digits}e${power}`;
}

/** A decimal's text as a JSON number: `JSON.stringify({ a: rawNumber('0.10') })` is `{"a":0.10}`. */
export function rawNumber(text: string): number {
  return (JSON as unknown as { rawJSON(text: string): number }).rawJSON(text);
}

/** The same JSON, indented for people, with every digit kept. */
export function indented(text: string): string {
  const asWritten = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && context?.source !== undefined ? rawNumber(context.source) : value;
  return JSON.stringify(JSON.parse(text, asWritten), null, 2);
}

const refusedByJsonb = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/** A text as PostgreSQL can store it. A partner's keys may contain NUL characters, and our messages name them. */
export function storedText(text: string): string;
export function storedText(text: string | undefined): string | undefined;
export function storedText(text: string | undefined): string | undefined {
  return text?.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/**
 * JSON text that a jsonb column accepts: NUL and lone surrogates, which it refuses, become U+FFFD. JSON.stringify escapes
 * exactly those, so most texts have no such escape and are returned unchanged.
 */
export function jsonbText(text: string): string {
  return text.includes('\\u') ? text.replace(refusedByJsonb, '$1\\ufffd') : text;
}

/**
 * JSON from an untrusted sender: refuses input that a lenient parser accepts and that makes other programs fail. JSON.parse,
 * which is native, checks the grammar; one pass over the bytes beforehand limits what it can build, and one pass over the
 * result finds problems that the bytes alone do not show.
 *
 * As with parseJson, a number that a double cannot hold is read as text. It is put into quotes before the parser sees
 * it: a reviver, called for every value, took half a second for a body of 1 MiB that was made for it.
 */
export interface StrictLimits {
  readonly maxDepth: number;
  readonly maxArrayLength: number;
  readonly maxMembers: number;
}

export const strictLimits: StrictLimits = { maxDepth: 64, maxArrayLength: 100_000, maxMembers: 2_000 };

export type StrictReason =
  | 'not_utf8'
  | 'byte_order_mark'
  | 'not_json'
  | 'too_deep'
  | 'array_too_long'
  | 'too_many_members'
  | 'duplicate_key'
  | 'prototype_key'
  | 'nul_character'
  | 'lone_surrogate'
  | 'number_out_of_range';

export type StrictResult =
  | { readonly kind: 'ok'; readonly value: Json }
  /** `position` counts bytes (characters for not_json) from the start, if known; the content is never quoted. */
  | { readonly kind: 'invalid'; readonly reason: StrictReason; readonly position?: number };

export function parseStrictJson(bytes: Buffer, limits: StrictLimits = strictLimits): StrictResult {
  if (!isUtf8(bytes)) return { kind: 'invalid', reason: 'not_utf8' };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { kind: 'invalid', reason: 'byte_order_mark', position: 0 };
  }
  const seen = scan(bytes, limits);
  if (seen.kind === 'invalid') return seen;
  const text = seen.long.length === 0 ? bytes.toString('utf8') : quoted(bytes, seen.long);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    // The message quotes the content: only the position is taken from it.
    const position = / at position (\d+)/.exec((error as Error).message)?.[1];
    return { kind: 'invalid', reason: 'not_json', ...(position !== undefined && { position: Number(position) }) };
  }
  const walk = { members: 0, checkText: seen.escapes };
  const reason = check(value, walk);
  if (reason !== undefined) return { kind: 'invalid', reason };
  // With a repeated key, the text has more colons than the value has members.
  if (walk.members !== seen.colons) return { kind: 'invalid', reason: 'duplicate_key' };
  return { kind: 'ok', value };
}

interface Scanned {
  readonly kind: 'ok';
  readonly colons: number;
  /** A \u escape occurs: only these can hide a NUL or half a surrogate pair in valid UTF-8. */
  readonly escapes: boolean;
  /** Where numbers begin and end that a double cannot hold. */
  readonly long: readonly number[];
}

const quote = 0x22;
const backslash = 0x5c;

function scan(bytes: Buffer, limits: StrictLimits): Scanned | (StrictResult & { kind: 'invalid' }) {
  const { maxDepth, maxArrayLength, maxMembers } = limits;
  const length = bytes.length;
  // Commas so far in each open container: positive for arrays (from 1 up), negative for objects (from -1 down).
  const counts: number[] = [];
  let depth = 0;
  let count = 0;
  let colons = 0;
  let escapes = false;
  const long: number[] = [];
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    if (byte === quote) {
      for (at++; at < length; at++) {
        const inside = bytes[at] as number;
        if (inside === quote) break;
        if (inside === backslash) {
          at++;
          if (bytes[at] === 0x75) escapes = true;
        }
      }
    } else if (byte === 0x2c) {
      if (count > 0) {
        if (++count > maxArrayLength) return { kind: 'invalid', reason: 'array_too_long', position: at };
      } else if (--count < -maxMembers) return { kind: 'invalid', reason: 'too_many_members', position: at };
    } else if (byte === 0x3a) {
      colons++;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (depth === maxDepth) return { kind: 'invalid', reason: 'too_deep', position: at };
      counts[depth++] = count;
      count = byte === 0x5b ? 1 : -1;
    } else if (byte === 0x5d || byte === 0x7d) {
      if (depth === 0) return { kind: 'invalid', reason: 'not_json', position: at };
      count = counts[--depth] as number;
    } else if (byte >= 0x30 && byte <= 0x39) {
      const start = at;
      let exponent = false;
      for (; at < length; at++) {
        const inside = bytes[at] as number;
        if (inside >= 0x30 && inside <= 0x39) continue;
        if (inside === 0x65 || inside === 0x45) exponent = true;
        else if (inside !== 0x2e && inside !== 0x2b && inside !== 0x2d) break;
      }
      if (exponent || at - start > 15) {
        const token = bytes.toString('latin1', start, at);
        const value = Number(token);
        if (value === Number.POSITIVE_INFINITY)
          return { kind: 'invalid', reason: 'number_out_of_range', position: start };
        // Not a number: left unquoted, so that the parser refuses it.
        if (wellFormed.test(token) && !holds(value, token))
          long.push(bytes[start - 1] === 0x2d ? start - 1 : start, at);
      }
      at--;
    }
  }
  return { kind: 'ok', colons, escapes, long };
}

const wellFormed = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether a double keeps the number exactly: true for up to 15 significant digits, unless it is too small. */
function holds(value: number, token: string): boolean {
  const mantissa = token
    .replace(/[eE].*$/, '')
    .replace('.', '')
    .replace(/^0+/, '');
  const digits = mantissa.length <= 15 ? mantissa.length : mantissa.replace(/0+$/, '').length;
  return digits === 0 || (digits <= 15 && value > 1e-290) || String(value) === token;
}

function quoted(bytes: Buffer, long: readonly number[]): string {
  const parts: string[] = [];
  let from = 0;
  for (let i = 0; i < long.length; i += 2) {
    const start = long[i] as number;
    const end = long[i + 1] as number;
    parts.push(bytes.toString('utf8', from, start), '"', bytes.toString('latin1', start, end), '"');
    from = end;
  }
  parts.push(bytes.toString('utf8', from));
  return parts.join('');
}

function check(value: Json, walk: { members: number; readonly checkText: boolean }): StrictReason | undefined {
  if (typeof value === 'string') return walk.checkText ? checkText(value) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (const item of value) {
      const reason = check(item, walk);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
  const keys = Object.keys(value);
  walk.members += keys.length;
  for (const key of keys) {
    if (key === '__proto__' || key === 'constructor' || key === 'prototype') return 'prototype_key';
    const reason =
      (walk.checkText ? checkText(key) : undefined) ?? check((value as { [key: string]: Json })[key] as Json, walk);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function checkText(text: string): StrictReason | undefined {
  if (text.includes('\0')) return 'nul_character';
  return text.isWellFormed() ? undefined : 'lone_surrogate';
}
