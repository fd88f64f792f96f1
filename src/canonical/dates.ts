import { z } from 'zod';

export const localDateSchema = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/)
  .refine(isLocalDate)
  .meta({ format: 'date', description: 'A hotel-local calendar date, YYYY-MM-DD.' });

const zero = 48;
const hyphen = 45;

/** True for a date that exists: 2026-02-29 does not. Reads character codes, since every date of every record is checked here. */
export function isLocalDate(text: string): boolean {
  if (text.length !== 10 || text.charCodeAt(4) !== hyphen || text.charCodeAt(7) !== hyphen) return false;
  const century = twoDigits(text, 0);
  const rest = twoDigits(text, 2);
  if (century < 0 || rest < 0) return false;
  return isRealDate(century * 100 + rest, twoDigits(text, 5), twoDigits(text, 8));
}

export function isRealDate(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** The number that two digits spell at a place, or -1. */
export function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - zero;
  const ones = text.charCodeAt(at + 1) - zero;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

export function formatLocalDate(year: number, month: number, day: number): string {
  return `${String(year).padStart(4, '0')}-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`;
}

/** Also of older names and links, such as Europe/Kiev or Asia/Calcutta, which `Intl.supportedValuesOf` leaves out. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The date of an instant in a time zone. */
export function localDateAt(timezone: string, epochMs: number): string {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timezone).toPlainDate().toString();
}
