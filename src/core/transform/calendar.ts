import { isLocalDate } from '../canonical/values.ts';

/** Date arithmetic for rules: YYYY-MM-DD, without time or time zone. */

const dayMs = 86_400_000;

function dayOf(date: string): number {
  if (!isLocalDate(date)) throw new NotADate();
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8))) / dayMs;
}

export class NotADate extends Error {}

function dateOf(day: number): string {
  const date = new Date(day * dayMs);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9999) throw new NotADate();
  return date.toISOString().slice(0, 10);
}

export function daysBetween(from: string, to: string): bigint {
  return BigInt(dayOf(to) - dayOf(from));
}

export function addDays(date: string, days: bigint): string {
  return dateOf(dayOf(date) + Number(days));
}

/** 1 is Monday, 7 is Sunday. 1 January 1970 was a Thursday. */
export function weekday(date: string): bigint {
  return BigInt(((((dayOf(date) + 3) % 7) + 7) % 7) + 1);
}
