import type { EpochMs, LocalDate } from '../../../../terms.ts';
import { addDays } from '../../../canonical/values.ts';

/** Days at the property, both included. A single day has `from` equal to `to`. */
export interface Window {
  readonly from: LocalDate;
  readonly to: LocalDate;
}

const dayMs = 86_400_000;

export function daysIn({ from, to }: Window): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs) + 1;
}

/** The first window of the range, at most `stepDays` long; undefined if the range is empty. */
export function nextWindow(from: LocalDate, rangeTo: LocalDate, stepDays: number): Window | undefined {
  if (from > rangeTo) return undefined;
  const to = addDays(from, stepDays - 1);
  return { from, to: to < rangeTo ? to : rangeTo };
}

/** The first half of a window; undefined for a single day. */
export function firstHalf(window: Window): Window | undefined {
  const days = daysIn(window);
  return days < 2 ? undefined : { from: window.from, to: addDays(window.from, Math.ceil(days / 2) - 1) };
}

/** The start of the date at the property. */
export function startOfDay(date: LocalDate, timezone: string): EpochMs {
  return Temporal.PlainDate.from(date).toZonedDateTime({ timeZone: timezone }).epochMilliseconds;
}
