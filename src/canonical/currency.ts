import * as currencies from 'dinero.js/currencies';

/** Codes withdrawn since 2021; a backfill still finds reservations priced in them. */
const withdrawn = { HRK: 2, SLL: 2, CUC: 2, ANG: 2, ZWL: 2 } as const;

/** ISO 4217 code to the digits of its minor unit. */
const digits: ReadonlyMap<string, number> = new Map([
  ...Object.values(currencies).map((currency): [string, number] => [currency.code, Number(currency.exponent)]),
  ...Object.entries(withdrawn),
]);

export function isCurrency(code: string): boolean {
  return digits.has(code);
}

/** Digits of the minor unit: 2 for EUR, 0 for JPY, 3 for KWD; undefined for an unknown code. */
export function minorDigits(code: string): number | undefined {
  return digits.get(code);
}
