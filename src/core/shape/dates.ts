import type { Json } from '../../terms.ts';
import { formatLocalDate, isLocalDate, isRealDate, localDateAt } from '../canonical/values.ts';

/** Reads a raw value as a hotel-local date; undefined if it has another format. */
export type DateReader = (value: Json) => string | undefined;

const dayMs = 86_400_000;

/** The named formats; any other format is a pattern of YYYY, MM, DD and so on. */
const named: Readonly<Record<string, (timezone: string) => DateReader>> = {
  iso: (timezone) => (value) => (typeof value === 'string' ? isoDate(value, timezone) : undefined),
  as_written: () => (value) => (typeof value === 'string' ? isoDate(value, undefined) : undefined),
  epoch_s: (timezone) => (value) => epochDate(value, 1000, timezone),
  epoch_ms: (timezone) => (value) => epochDate(value, 1, timezone),
  dotnet: (timezone) => (value) => {
    const match = typeof value === 'string' ? /^\/Date\((-?\d{1,15})(?:[+-]\d{4})?\)\/$/.exec(value.trim()) : null;
    return match ? epochDate(match[1] ?? null, 1, timezone) : undefined;
  },
};

/** Tries the formats in order; the first that fits wins. */
export function compileDates(
  formats: readonly string[],
  timezone: string,
  meaning: Meaning = 'day',
): Extract<Pattern, { kind: 'ok' }> | (Extract<Pattern, { kind: 'bad' }> & { readonly index: number }) {
  const readers: DateReader[] = [];
  for (const [index, format] of formats.entries()) {
    const named = namedReader(format, timezone, meaning);
    const pattern = named ? { kind: 'ok' as const, read: named } : compilePattern(format, timezone, meaning);
    if (pattern.kind === 'bad') return { ...pattern, index };
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
  const match = isoForm.exec(text.trim());
  if (!match) return undefined;
  const [, y = '', m = '', d = '', hour = '0', minute = '0', second = '0', fraction = '0', offset] = match;
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

/**
 * The property's date of a moment. Midnight UTC is a date that a system wrote as a moment: west of Greenwich it would become the day
 * before. Written with another offset, the same moment is a time of day. `writtenMs` may have a fraction.
 */
function dateOfMoment(writtenMs: number, offset: number, timezone: string): string {
  const isDate = offset === 0 && writtenMs % dayMs === 0;
  return localDateAt(isDate ? 'UTC' : timezone, Math.floor(writtenMs) - offset);
}

/** Milliseconds ahead of UTC for a written offset: Z, +02:00, -0530, +02. */
function offsetMs(text: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(text);
  if (!match) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === '-' ? -1 : 1) * minutes * 60_000;
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

/** The parts of a pattern as regular expressions. Longer parts come before their own prefixes (MMM before MM). */
const parts = [
  ['YYYY', '(\\d{4})'],
  ['YY', '(\\d{2})'],
  ['MMMM', '([\\p{L}\\p{M}]+)\\.?'],
  ['MMM', '([\\p{L}\\p{M}]{3,})\\.?'],
  ['MM', '(\\d{2})'],
  ['M', '(\\d{1,2})'],
  ['DD', '(\\d{2})'],
  ['D', '(\\d{1,2})'],
  ['HH', '(\\d{2})'],
  ['H', '(\\d{1,2})'],
  ['hh', '(\\d{2})'],
  ['h', '(\\d{1,2})'],
  ['mm', '(\\d{2})'],
  ['ss', '(\\d{2})'],
  ['SSS', '(\\d{1,9})'],
  ['A', '([AaPp][Mm])'],
  ['Z', '(Z|[+-]\\d{2}:?\\d{2})'],
] as const;

/** What a date is: the day of a moment at the property, or a birthday, which stays as written. */
export type Meaning = 'day' | 'birth';

/** Two-digit years from this one on are of the last century. */
const lastCentury: Readonly<Record<Meaning, number>> = { day: 80, birth: 30 };

type Pattern =
  | { readonly kind: 'ok'; readonly read: DateReader }
  | { readonly kind: 'bad'; readonly message: string; readonly offset: number };

/** `DD/MM/YYYY`, `D MMM YYYY HH:mm`, `YYYYMMDD`: letters are parts, everything else and text in [brackets] is literal. */
function compilePattern(format: string, timezone: string, meaning: Meaning): Pattern {
  const names: string[] = [];
  let source = '';
  for (let at = 0; at < format.length; ) {
    const part = parts.find(([name]) => format.startsWith(name, at));
    const literal = /^\[([^\]]*)\]/.exec(format.slice(at));
    const sign = format[at] ?? '';
    if (part !== undefined) {
      // Months in words that follow each other would be tried in every division of a long word.
      if (names.includes(part[0]))
        return { kind: 'bad', message: `${part[0]} is in the date format twice`, offset: at };
      names.push(part[0]);
      source += part[1];
      at += part[0].length;
    } else if (literal) {
      source += RegExp.escape(literal[1] ?? '');
      at += literal[0].length;
    } else if (sign === 'T' || !/\p{L}/u.test(sign)) {
      source += RegExp.escape(sign);
      at++;
    } else {
      const known = `${parts.map(([name]) => name).join(', ')}, or one of iso, as_written, epoch_s, epoch_ms, dotnet`;
      return { kind: 'bad', message: `unknown part ${sign} of a date format; use ${known}`, offset: at };
    }
  }
  const needed = ['year (YYYY)', 'month (MM)', 'day (DD)'];
  const missing = needed.find((what) => !names.some((name) => name.startsWith(what.charAt(0).toUpperCase())));
  if (missing !== undefined) return { kind: 'bad', message: `the date format ${format} has no ${missing}`, offset: 0 };
  const regex = new RegExp(`^${source}$`, 'u');
  const places = new Map(names.map((name, index) => [name, index + 1]));
  return { kind: 'ok', read: (value) => readPattern(value, regex, places, timezone, meaning) };
}

const longestDate = 100;

function readPattern(
  value: Json,
  regex: RegExp,
  places: ReadonlyMap<string, number>,
  timezone: string,
  meaning: Meaning,
): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).trim();
  const match = text.length > longestDate ? null : regex.exec(text);
  if (!match) return undefined;
  const part = (...names: string[]): string | undefined => {
    const name = names.find((candidate) => places.has(candidate));
    return name === undefined ? undefined : match[places.get(name) ?? 0];
  };
  const short = part('YY');
  const year = Number(part('YYYY') ?? (Number(short) < lastCentury[meaning] ? `20${short}` : `19${short}`));
  const word = part('MMMM', 'MMM');
  const month = word === undefined ? Number(part('MM', 'M')) : (monthOf(word) ?? 0);
  const day = Number(part('DD', 'D'));
  if (!isRealDate(year, month, day)) return undefined;
  const offset = part('Z');
  if (offset === undefined || meaning === 'birth') return formatLocalDate(year, month, day);
  const half = part('A')?.toLowerCase();
  const clock = Number(part('HH', 'H', 'hh', 'h') ?? 0);
  const hour = half === undefined ? clock : (clock % 12) + (half === 'pm' ? 12 : 0);
  const written = Date.UTC(year, month - 1, day, hour, Number(part('mm') ?? 0), Number(part('ss') ?? 0));
  return dateOfMoment(written + Number(`0.${part('SSS') ?? 0}`), offsetMs(offset), timezone);
}

/** Months by name, without accents; further forms of a name are separated by a slash. */
const languages = `
  january february march april may june july august september october november december
  janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
  enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre
  janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
  januar/janner februar marz/mrz april mai juni juli august september oktober november dezember
  gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
  januari februari maart/mrt april mei juni juli augustus september oktober november december
  januari februari mars/marts april maj/mai juni juli augusti september oktober november desember
  tammikuu helmikuu maaliskuu huhtikuu toukokuu kesakuu heinakuu elokuu syyskuu lokakuu marraskuu joulukuu
  styczen/stycznia luty/lutego marzec/marca kwiecien/kwietnia maj czerwiec/czerwca lipiec/lipca sierpien/sierpnia wrzesien/wrzesnia pazdziernik listopad grudzien/grudnia
`;

const english = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const names = languages
  .trim()
  .split('\n')
  .flatMap((line) =>
    line
      .trim()
      .split(' ')
      .flatMap((forms, month) => forms.split('/').map((name) => ({ name, month: month + 1 }))),
  );

/** 1 to 12 for a month's name or its beginning, in English and the languages above; undefined if it is unknown or fits two months. */
export function monthOf(word: string): number | undefined {
  const plain = word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const short = english.indexOf(plain);
  if (short >= 0) return short + 1;
  if (plain.length < 3) return undefined;
  const months = new Set(names.filter(({ name }) => name.startsWith(plain)).map(({ month }) => month));
  // Finnish and Polish add an ending to the name: 16. marraskuuta.
  if (months.size === 0)
    for (const { name, month } of names) if (name.length > 3 && plain.startsWith(name)) months.add(month);
  return months.size === 1 ? [...months][0] : undefined;
}
