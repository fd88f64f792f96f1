import { formatLocalDate, isLocalDate, isRealDate } from '../canonical/dates.ts';
import type { Json } from '../terms.ts';
import { compilePattern, type Meaning } from './date-pattern.ts';
import { dateOfMoment, offsetMs } from './zone.ts';

/** Reads a raw value as a hotel-local date; undefined if it has another format. */
export type DateReader = (value: Json) => string | undefined;

const dayMs = 86_400_000;

/** The named formats; any other format is a pattern of YYYY, MM, DD and so on. */
const named: Readonly<Record<string, (timezone: string) => DateReader>> = {
  iso: (timezone) => (value) => (typeof value === 'string' ? isoDate(value, timezone) : undefined),
  as_written: () => (value) => (typeof value === 'string' ? isoDate(value, undefined) : undefined),
  epoch_s: (timezone) => (value) => epochDate(value, 1000, timezone),
  epoch_ms: (timezone) => (value) => epochDate(value, 1, timezone),
  epoch_days: () => epochDay,
  dotnet: (timezone) => (value) => {
    const found = typeof value === 'string' ? /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/.exec(value.trim()) : null;
    return found ? epochDate(found[1] ?? null, 1, timezone) : undefined;
  },
};

export type CompiledDates =
  | { readonly kind: 'ok'; readonly read: DateReader }
  | { readonly kind: 'bad'; readonly index: number; readonly message: string; readonly offset: number };

/** Tries the formats in order; the first that fits wins. */
export function compileDates(formats: readonly string[], timezone: string, meaning: Meaning = 'day'): CompiledDates {
  const readers: DateReader[] = [];
  for (const [index, format] of formats.entries()) {
    const reader = namedReader(format, timezone, meaning);
    if (reader !== undefined) {
      readers.push(reader);
      continue;
    }
    const pattern = compilePattern(format, timezone, meaning);
    if (pattern.kind === 'bad') return { kind: 'bad', index, message: pattern.message, offset: pattern.offset };
    readers.push(pattern.read);
  }
  const [only] = readers;
  if (readers.length === 1 && only !== undefined) return { kind: 'ok', read: only };
  return {
    kind: 'ok',
    read: (value) => {
      for (const reader of readers) {
        const date = reader(value);
        if (date !== undefined) return date;
      }
      return undefined;
    },
  };
}

function namedReader(format: string, timezone: string, meaning: Meaning): DateReader | undefined {
  if (meaning === 'birth' && format === 'iso') return named.as_written?.(timezone);
  const make = Object.hasOwn(named, format) ? named[format] : undefined;
  return meaning === 'day' ? make?.(timezone) : make && birthday(make, timezone);
}

/**
 * A birthday as a moment is midnight in UTC or at the property, and the later of the two dates is right for both: the other is the day
 * before.
 */
function birthday(make: (timezone: string) => DateReader, timezone: string): DateReader {
  const readers = [make('UTC'), make(timezone)];
  return (value) =>
    readers
      .map((read) => read(value))
      .toSorted()
      .at(-1);
}

const isoForm =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:[T ](\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?(?:\[[\w/+-]+\])?)?$/i;

/** ISO 8601. A date stays unchanged; an instant becomes its date in the time zone, or the date as written if there is no zone. */
function isoDate(text: string, timezone: string | undefined): string | undefined {
  if (text.length === 10 && isLocalDate(text)) return text;
  const zoned = /^(\d{4}-\d{2}-\d{2})(?:Z|[+-]\d{2}:\d{2})$/.exec(text.trim())?.[1];
  if (zoned !== undefined && isLocalDate(zoned)) return zoned;
  const found = isoForm.exec(text.trim());
  if (!found) return undefined;
  const [, y = '', m = '', d = '', hour = '0', minute = '0', second = '0', fraction = '0', offset] = found;
  const year = Number(y);
  const month = Number(m);
  const day = Number(d);
  if (!isRealDate(year, month, day) || Number(hour) > 24 || Number(minute) > 59 || Number(second) > 60)
    return undefined;
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  if (offset === undefined || timezone === undefined || year < 100) return formatLocalDate(year, month, day);
  const written = Date.UTC(year, month - 1, day, Number(hour), Number(minute), Number(second));
  return dateOfMoment(written + Number(`0.${fraction}`), offsetMs(offset), timezone);
}

/** Seconds or milliseconds since 1970, as a number or its text. */
function epochDate(value: Json, unitMs: number, timezone: string): string | undefined {
  const text = typeof value === 'string' ? value.trim() : undefined;
  if (text !== undefined && !/^-?\d{1,15}(\.\d+)?$/.test(text)) return undefined;
  const number = typeof value === 'number' ? value : text === undefined ? Number.NaN : Number(text);
  const ms = number * unitMs;
  // Outside the years 1 to 9999 the number has another unit.
  if (!Number.isFinite(ms) || ms < -62_135_596_800_000 || ms > 253_402_300_799_999) return undefined;
  return dateOfMoment(ms, 0, timezone);
}

/** Days since 1970, as a number or its text; a fraction is the time of day. A day has no time zone. */
function epochDay(value: Json): string | undefined {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  return /^-?\d{1,7}(\.\d+)?$/.test(text) ? addDays('1970-01-01', Math.floor(Number(text))) : undefined;
}

/** The date some days later (earlier if negative); undefined if the text is not a date. */
export function addDays(date: string, days: number): string | undefined {
  if (!isLocalDate(date)) return undefined;
  const moved = new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs);
  const text = Number.isNaN(moved.getTime()) ? '' : moved.toISOString().slice(0, 10);
  return isLocalDate(text) ? text : undefined;
}

const zero = 48;

/**
 * The first day of the calendar, which some systems use for "none"; also if a time zone conversion moved it back by a day.
 */
export function isPlaceholderDate(date: string): boolean {
  return date.charCodeAt(0) === zero && (date.startsWith('0000') || date === '0001-01-01');
}

/** A date of zeros in any format: 0000-00-00, 00/00/0000 00:00. */
export function isZeros(value: Json): boolean {
  return typeof value === 'string' && /^\s*(?:0[-/.:T Z]*){8,}$/.test(value);
}
