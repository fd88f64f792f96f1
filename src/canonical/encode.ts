import { jsonbText } from '../kit/json.ts';
import type { EntityType } from '../terms.ts';
import { type Decimal, decimal } from './decimal.ts';
import { entriesOf, fieldNames, listNames, type Table } from './fields.ts';
import type { Guest, Reservation } from './reservation.ts';

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

type Fields = { [name: string]: unknown };

/** A record, or a part of one, whose decimals are numbers. */
export function withNumbers(record: object): object {
  let copy = numbersIn(record as Fields, ownDecimals);
  for (const { list, names } of listDecimals) {
    const items = copy[list] as Fields[] | undefined;
    if (items === undefined || items.length === 0) continue;
    if (copy === record) copy = { ...copy };
    copy[list] = items.map((item) => numbersIn(item, names));
  }
  return copy;
}

function numbersIn(item: Fields, names: readonly string[]): Fields {
  let copy = item;
  for (const name of names) {
    const value = item[name];
    if (value === undefined) continue;
    if (copy === item) copy = { ...item };
    copy[name] = asNumber(value as Decimal);
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
    const value = (item as Fields)[name];
    if (value !== undefined) (item as Fields)[name] = decimal(String(value)) ?? String(value);
  }
}
