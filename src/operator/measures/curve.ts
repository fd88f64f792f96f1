import { addDays } from '../../core/canonical/values.ts';
import type { ForecastError, Money, Sold } from './facts.ts';

/** What a day added to the books of a night; the day is null where days are not told apart. */
export type Move = readonly [
  night: string,
  day: string | null,
  currency: string,
  rooms: number,
  revenue: number | null,
];

/** What was on the books of each night on each day. */
export class Curve {
  readonly #byNight: ReadonlyMap<string, readonly Move[]>;

  constructor(moves: readonly Move[]) {
    this.#byNight = Map.groupBy(moves, ([night]) => night);
  }

  /** As of the evening of `day`; without one, as of now. */
  on(night: string, day?: string): Sold {
    const revenue: Record<string, number> = {};
    let rooms = 0;
    for (const [, at, currency, more, amount] of this.#byNight.get(night) ?? []) {
      if (day !== undefined && at !== null && at > day) continue;
      rooms += more;
      if (amount !== null) revenue[currency] = cents((revenue[currency] ?? 0) + amount);
    }
    return { rooms, revenue };
  }
}

/** Sums of doubles, without the digits that no currency has. */
export const cents = (amount: number): number => Math.round(amount * 1_000) / 1_000;

export function added(...amounts: readonly Money[]): Money {
  const sum: Record<string, number> = {};
  for (const [currency, amount] of amounts.flatMap(Object.entries<number>))
    sum[currency] = cents((sum[currency] ?? 0) + amount);
  return sum;
}

/** 52 weeks: the same weekday. */
export const year = 364;

/** From the first day to the last, both included. */
export function daysBetween(first: string, last: string): string[] {
  const count = Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => addDays(first, i));
}

/**
 * A plain forecast: what is on the books, and what comparable nights still sold from this many days before them on. Comparable are the last
 * eight nights of the same weekday. No model of seasons and prices: its error is measured and shown beside it.
 */

const most = 8;
const fewest = 4;

interface Past {
  readonly curve: Curve;
  readonly isKnown: (night: string) => boolean;
}

/** How many rooms a night sells from `ahead` days before it on, by nights before `today`; undefined if too few are known. */
export function pickupOf({ curve, isKnown }: Past, night: string, ahead: number, today: string): number | undefined {
  const weeks = Math.floor(ahead / 7) + 1;
  const nights = Array.from({ length: most }, (_, i) => addDays(night, -7 * (weeks + i)));
  const known = nights.filter((one) => one < today && isKnown(one));
  if (known.length < fewest) return undefined;
  const sold = known.map((one) => curve.on(one).rooms - curve.on(one, addDays(one, -ahead)).rooms);
  return sold.reduce((sum, one) => sum + one, 0) / known.length;
}

/** The forecasts that would have been made for the last four weeks, against what was sold. */
export function errorsOf(past: Past, today: string): ForecastError[] {
  return [7, 14, 28].flatMap((days) => {
    const off = Array.from({ length: 28 }, (_, i) => addDays(today, -1 - i)).flatMap((night) => {
      const madeOn = addDays(night, -days);
      const pickup = past.isKnown(night) ? pickupOf(past, night, days, madeOn) : undefined;
      if (pickup === undefined) return [];
      return [Math.abs(past.curve.on(night, madeOn).rooms + pickup - past.curve.on(night).rooms)];
    });
    if (off.length === 0) return [];
    const rooms = off.reduce((sum, one) => sum + one, 0) / off.length;
    return [{ days, nights: off.length, rooms: Math.round(rooms * 10) / 10 }];
  });
}
