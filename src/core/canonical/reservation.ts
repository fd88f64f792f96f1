import { z } from 'zod';
import { jsonbText } from '../../kit/json.ts';
import type { EntityType, Json, LocalDate } from '../../terms.ts';
import { entriesOf, type FieldKind, fieldNames, type fields, listNames, type Table } from './fields.ts';
import type { Status } from './values.ts';

/**
 * The canonical record: every PMS is mapped to it and every destination receives it. A field the partner did not send is absent, never
 * null; the three lists are always present. Meanings and examples are in fields.ts.
 */

interface Values extends Record<FieldKind, unknown> {
  text: string;
  verbatim: string;
  date: LocalDate;
  birth_date: LocalDate;
  decimal: Decimal;
  count: number;
  integer: number;
  boolean: boolean;
  flag: true;
  country: string;
  currency: string;
  status: Status;
  json: { [name: string]: Json };
}

type Fields<Name extends Table> = (typeof fields)[Name];
type ValueOf<Of> = Of extends { readonly kind: infer Kind extends FieldKind } ? Values[Kind] : never;
type Needed<Of> = { -readonly [Key in keyof Of as Of[Key] extends { required: true } ? Key : never]: ValueOf<Of[Key]> };
type Optional<Of> = {
  -readonly [Key in keyof Of as Of[Key] extends { required: true } ? never : Key]?: ValueOf<Of[Key]> | undefined;
};

export type Guest = Optional<Fields<'guests'>>;
export type Room = Optional<Fields<'rooms'>>;
export type Charge = Optional<Fields<'charges'>>;
export type Reservation = Needed<Fields<'reservation'>> &
  Optional<Fields<'reservation'>> & { guests: Guest[]; rooms: Room[]; charges: Charge[] };

/**
 * The stored and delivered form of a record: decimals are JSON numbers with every digit. Keys keep the order that the check gave
 * them, so that equal content is equal text.
 */
export function encodeRecord(record: Reservation | Guest): string {
  return JSON.stringify('charges' in record ? withNumbers(record) : record);
}

/** The text as it is stored: what PostgreSQL refuses is replaced. */
export const recordText = (record: Reservation | Guest): string => jsonbText(encodeRecord(record));

const decimalsIn = (table: Table): readonly string[] =>
  entriesOf(table).flatMap(([name, { kind }]) => (kind === 'decimal' ? name : []));
const ownDecimals = decimalsIn('reservation');
const listDecimals = listNames.flatMap((list) => {
  const names = decimalsIn(list);
  return names.length === 0 ? [] : [{ list, names }];
});
const decimalNames = fieldNames(({ kind }) => kind === 'decimal');

type StoredFields = { [name: string]: unknown };

/** A record, or a part of one, whose decimals are numbers. */
export function withNumbers(record: object, numberOf: (decimal: Decimal) => unknown = asNumber): object {
  let copy = numbersIn(record as StoredFields, ownDecimals, numberOf);
  for (const { list, names } of listDecimals) {
    const items = copy[list] as StoredFields[] | undefined;
    if (items === undefined || items.length === 0) continue;
    if (copy === record) copy = { ...copy };
    copy[list] = items.map((item) => numbersIn(item, names, numberOf));
  }
  return copy;
}

/** The record as its stored text is read: a decimal that a double cannot hold exactly stays text. */
export const asJson = (record: Reservation | Guest): Json => withNumbers(record, exactNumber) as Json;

const exactNumber = (text: Decimal): Json => {
  const number = Number(text);
  return decimalOf(number) === text ? number : text;
};

function numbersIn(
  item: StoredFields,
  names: readonly string[],
  numberOf: (decimal: Decimal) => unknown,
): StoredFields {
  let copy = item;
  for (const name of names) {
    const value = item[name];
    if (value === undefined) continue;
    if (copy === item) copy = { ...item };
    copy[name] = numberOf(value as Decimal);
  }
  return copy;
}

/**
 * The value that JSON.stringify writes as the decimal's digits. A double prints up to fifteen digits unchanged, unless it is so small that
 * it would get an exponent. Other decimals are written as raw text, at three times the cost.
 */
function asNumber(text: Decimal): unknown {
  const number = Number(text);
  const same = text.length <= 15 && (number === 0 || number >= 1e-6 || number <= -1e-6);
  return same ? number : rawJson(text);
}

const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

/** Without sixteen digits in a row every number fits a double, so the reviver, which sees each number's text, is not needed. */
const longNumber = /[:,[\s]-?\d[\d.]{15}/;

/** The inverse of encodeRecord: decimals become text again, with every digit. */
export function decodeRecord(type: 'reservation', text: string): Reservation;
export function decodeRecord(type: 'guest', text: string): Guest;
export function decodeRecord(type: EntityType, text: string): Reservation | Guest;
export function decodeRecord(type: EntityType, text: string): Reservation | Guest {
  if (type === 'guest') return JSON.parse(text) as Guest;
  const record = (longNumber.test(text) ? JSON.parse(text, keepText) : JSON.parse(text)) as Reservation;
  decimalsAsText(record, ownDecimals);
  for (const { list, names } of listDecimals) for (const item of record[list]) decimalsAsText(item, names);
  return record;
}

/** Names under `extra` can be those of decimals too; their numbers arrived as doubles, so their text differs from a double's only here. */
function keepText(this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return decimalNames.has(key) && String(value) !== context.source ? context.source : value;
}

function decimalsAsText(item: object, names: readonly string[]): void {
  for (const name of names) {
    const value = (item as StoredFields)[name];
    if (value !== undefined) (item as StoredFields)[name] = decimal(String(value)) ?? String(value);
  }
}

/**
 * Decimals are text, so that no digit is rounded through a float. The text is the shortest plain form (no exponent, no leading
 * or trailing zeros, no minus zero), so that equal values are equal strings.
 */
export type Decimal = string;

export const decimalSchema = z
  .string()
  .regex(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/)
  .describe('A decimal number, exact; in JSON it is a number.');

const source = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/** The common spellings, 45, 45.9 and 45.90: only trailing zeros have to be removed. */
const usual = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** JavaScript prints the shortest form itself, except for exponents and minus zero. */
export function decimalOf(number: number): Decimal | undefined {
  const text = String(number);
  return text.includes('e') || number === 0 || !Number.isFinite(number) ? decimal(text) : text;
}

/** The shortest plain form of a number's text, or undefined when the text is not a number. */
export function decimal(text: string): Decimal | undefined {
  if (usual.test(text)) return withoutZeros(text);
  const parts = source.exec(text.trim());
  if (!parts) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  if (whole === '' && fraction === '') return undefined;
  let digits = whole + fraction;
  let point = whole.length + Number(exponent);
  if (point < 0) {
    digits = '0'.repeat(-point) + digits;
    point = 0;
  } else if (point > digits.length) {
    digits = digits.padEnd(point, '0');
  }
  const integer = digits.slice(0, point).replace(/^0+/, '') || '0';
  const decimals = digits.slice(point).replace(/0+$/, '');
  const plain = decimals === '' ? integer : `${integer}.${decimals}`;
  return sign === '-' && plain !== '0' ? `-${plain}` : plain;
}

function withoutZeros(text: string): Decimal {
  let end = text.length;
  if (text.includes('.')) {
    while (text.endsWith('0', end)) end--;
    if (text.endsWith('.', end)) end--;
  }
  const plain = end === text.length ? text : text.slice(0, end);
  return plain === '-0' ? '0' : plain;
}

/** A decimal as an integer and the number of its digits after the point, for exact arithmetic. */
interface Scaled {
  readonly units: bigint;
  readonly digits: number;
}

function scaled(value: Decimal): Scaled {
  const point = value.indexOf('.');
  if (point < 0) return { units: BigInt(value), digits: 0 };
  return { units: BigInt(value.slice(0, point) + value.slice(point + 1)), digits: value.length - point - 1 };
}

function plain({ units, digits }: Scaled): Decimal {
  return decimal(digits === 0 ? units.toString() : `${units}e-${digits}`) ?? '0';
}

export function add(values: readonly Decimal[]): Decimal {
  let sum: Scaled = { units: 0n, digits: 0 };
  for (const value of values) {
    const next = scaled(value);
    const digits = Math.max(sum.digits, next.digits);
    sum = { units: widen(sum, digits) + widen(next, digits), digits };
  }
  return plain(sum);
}

export function multiply(values: readonly Decimal[]): Decimal {
  let product: Scaled = { units: 1n, digits: 0 };
  for (const value of values) {
    const next = scaled(value);
    product = { units: product.units * next.units, digits: product.digits + next.digits };
  }
  return plain(product);
}

/** Negative, zero or positive: the order of `sort`. */
export function compare(one: Decimal, other: Decimal): number {
  const a = scaled(one);
  const b = scaled(other);
  const digits = Math.max(a.digits, b.digits);
  const difference = widen(a, digits) - widen(b, digits);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Moves the point left: 12345 by 2 is 123.45. */
export function shiftPoint(value: Decimal, digits: number): Decimal {
  const { units, digits: own } = scaled(value);
  return plain({ units, digits: own + digits });
}

export function negate(value: Decimal): Decimal {
  if (value === '0') return value;
  return value.startsWith('-') ? value.slice(1) : `-${value}`;
}

function widen({ units, digits }: Scaled, to: number): bigint {
  return units * 10n ** BigInt(to - digits);
}
