import { type Decimal, decimal } from './decimal.ts';

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
