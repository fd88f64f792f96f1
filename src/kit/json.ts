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
