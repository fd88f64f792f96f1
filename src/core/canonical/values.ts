import * as currencies from 'dinero.js/currencies';
import countries from 'i18n-iso-countries/index.js';
import en from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import { z } from 'zod';

/** Codes that hotel systems use although ISO 3166 does not assign them. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['UK', 'GB'],
  ['EL', 'GR'],
]);

const alpha2: ReadonlySet<string> = new Set(Object.keys(countries.getAlpha2Codes()));
const alpha3: ReadonlyMap<string, string> = new Map(Object.entries(countries.getAlpha3Codes()));

let named: ReadonlyMap<string, string> | undefined;

/** English names of countries. Built on first use. */
function names(): ReadonlyMap<string, string> {
  named ??= new Map(
    Object.entries(en.countries).flatMap(([code, spellings]) =>
      [spellings].flat().map((name): [string, string] => [foldName(name), code]),
    ),
  );
  return named;
}

function foldName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/^the\s+/, '')
    .replace(/[^\p{L}]+/gu, ' ')
    .trim();
}

/** The alpha-2 code for an alpha-2 or alpha-3 code in any letter case, or for a country's English name. */
export function toCountry(text: string): string | undefined {
  if (alpha2.has(text)) return text;
  const upper = text.trim().toUpperCase();
  if (alpha2.has(upper)) return upper;
  return (upper.length === 2 ? aliases.get(upper) : alpha3.get(upper)) ?? names().get(foldName(text));
}

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

export const statuses = ['confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'other'] as const;
export type Status = (typeof statuses)[number];

/** Spellings that need no value map. Folded spellings (checkedin) cover every variant in case and separators; the unfolded ones are a shortcut for the common variants. */
const spellings: ReadonlyMap<string, Status> = new Map([
  ['checked_in', 'checked_in'],
  ['checked-in', 'checked_in'],
  ['checked_out', 'checked_out'],
  ['checked-out', 'checked_out'],
  ['no_show', 'no_show'],
  ['confirmed', 'confirmed'],
  ['checkedin', 'checked_in'],
  ['checkedout', 'checked_out'],
  ['cancelled', 'cancelled'],
  ['canceled', 'cancelled'],
  ['noshow', 'no_show'],
]);

/** Checked-In, CHECKED_IN and "checked in" are one spelling. */
export function foldSpelling(text: string): string {
  return text.toLowerCase().replace(/[\s_.\-‐-―]+/gu, '');
}

/** The canonical status of a spelling that needs no value map, or undefined. `other` is never a partner's spelling. */
export function readStatus(text: string): Status | undefined {
  return spellings.get(text) ?? spellings.get(foldSpelling(text));
}

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

/**
 * Calendar arithmetic, never clock time: a day of 23 or 25 hours is one day, so ranges have no gaps over daylight saving, leap
 * days and month ends.
 */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
