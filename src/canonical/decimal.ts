import { z } from 'zod';

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
  const found = source.exec(text.trim());
  if (!found) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = found;
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
