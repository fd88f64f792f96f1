import type { EpochMs, LocalDate } from '../../terms.ts';

/** Days at the property, both included. One day is from and to on the same date. */
export interface Window {
  readonly from: LocalDate;
  readonly to: LocalDate;
}

const dayMs = 86_400_000;

/**
 * Dates are counted on the calendar and never on the clock: a day of 23 or 25 hours is one day, so a range is cut without
 * gaps over daylight saving, leap days and month ends.
 */
export function addDays(date: LocalDate, days: number): LocalDate {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}

export function daysIn({ from, to }: Window): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs) + 1;
}

/** The date at the property at this moment. */
export function todayAt(timezone: string, now: EpochMs): LocalDate {
  return Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate().toString();
}

/** The first window of the range, at most `stepDays` long; undefined when the range is used up. */
export function nextWindow(from: LocalDate, rangeTo: LocalDate, stepDays: number): Window | undefined {
  if (from > rangeTo) return undefined;
  const to = addDays(from, stepDays - 1);
  return { from, to: to < rangeTo ? to : rangeTo };
}

/** The first half of a window that was too much for the partner; undefined for a single day. */
export function firstHalf(window: Window): Window | undefined {
  const days = daysIn(window);
  return days < 2 ? undefined : { from: window.from, to: addDays(window.from, Math.ceil(days / 2) - 1) };
}

/** The moment the date begins at the property, ISO 8601 in UTC. */
export function startOfDayUtc(date: LocalDate, timezone: string): string {
  return Temporal.PlainDate.from(date)
    .toZonedDateTime({ timeZone: timezone })
    .toInstant()
    .toString({ smallestUnit: 'second' });
}
