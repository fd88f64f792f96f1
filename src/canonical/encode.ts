import type { EntityType } from '../terms.ts';
import { type Decimal, decimal } from './decimal.ts';
import type { Charge, Guest, Reservation } from './reservation.ts';

/**
 * The stored and delivered form of a record: decimals are JSON numbers with every digit. Keys keep the order that the check gave
 * them, so that equal content is equal text.
 */
export function encodeRecord(record: Reservation | Guest): string {
  return JSON.stringify('charges' in record ? withNumbers(record) : record);
}

function withNumbers(record: Reservation): object {
  const { total_amount: total, charges } = record;
  if (total === undefined) return charges.length === 0 ? record : { ...record, charges: charges.map(withAmount) };
  return { ...record, total_amount: asNumber(total), charges: charges.map(withAmount) };
}

export function withAmount(charge: Charge): object {
  return charge.amount === undefined ? charge : { ...charge, amount: asNumber(charge.amount) };
}

/**
 * The value that JSON.stringify writes as the decimal's digits. A double prints up to fifteen digits unchanged, unless it is so small that
 * it would get an exponent. Other decimals are written as raw text, at three times the cost.
 */
export function asNumber(text: Decimal): unknown {
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
  if (record.total_amount !== undefined) record.total_amount = asDecimal(record.total_amount);
  for (const charge of record.charges as Charge[]) {
    if (charge.amount !== undefined) charge.amount = asDecimal(charge.amount);
  }
  return record;
}

/** Names under `extra` can also be `total_amount` or `amount`; their numbers arrived as doubles, so their text differs from a double's only here. */
function keepText(this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return (key === 'total_amount' || key === 'amount') && String(value) !== context.source ? context.source : value;
}

function asDecimal(value: number | string): Decimal {
  return decimal(String(value)) ?? String(value);
}
