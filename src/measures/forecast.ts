import type { Curve } from './curve.ts';
import { addDays } from './days.ts';
import type { ForecastError } from './facts.ts';

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
