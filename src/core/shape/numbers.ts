import type { Json } from '../../terms.ts';
import { type Decimal, decimal, decimalOf } from '../canonical/reservation.ts';
import type { NumberFormat } from './config.ts';

/** Ignored before and after an amount: spaces, currency signs and codes. A point belongs to the letter before it (Rs.500), else to the amount (.50). */
const around = /^[\s\p{Sc}]*(?:\p{L}\.?[\s\p{Sc}]*)*(?=[\d+.,-])|(?<=\d)[\s\p{Sc}\p{L}.]*$/gu;

/**
 * A raw value as an exact decimal, or undefined. Without a declared format only plain numbers are read: 1,234 can mean two different
 * numbers, so it is never guessed.
 */
export function readNumber(value: Json, format: NumberFormat | undefined): Decimal | undefined {
  if (typeof value === 'number') return decimalOf(value);
  if (typeof value !== 'string') return undefined;
  if (format === undefined) return decimal(value);
  const bare = value.replace(around, '').replace(/[\s\p{Sc}'’]/gu, '');
  const [whole = '', fraction = '', more] = bare.split(format === 'comma' ? ',' : '.');
  if (more !== undefined) return undefined;
  const grouped = format === 'comma' ? /^[+-]?\d{1,3}(\.\d{3})+$/ : /^[+-]?\d{1,3}(,\d{2,3})*,\d{3}$/;
  const digits = grouped.test(whole) ? whole.replaceAll(format === 'comma' ? '.' : ',', '') : whole;
  return decimal(fraction === '' ? digits : `${digits}.${fraction}`);
}
