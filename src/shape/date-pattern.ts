import { formatLocalDate, isRealDate } from '../canonical/dates.ts';
import type { Json } from '../terms.ts';
import { monthOf } from './month-names.ts';
import { dateOfMoment, offsetMs } from './zone.ts';

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

export type Pattern =
  | { readonly kind: 'ok'; readonly read: (value: Json) => string | undefined }
  | { readonly kind: 'bad'; readonly message: string; readonly offset: number };

/** `DD/MM/YYYY`, `D MMM YYYY HH:mm`, `YYYYMMDD`: letters are parts, everything else and text in [brackets] is literal. */
export function compilePattern(format: string, timezone: string, meaning: Meaning = 'day'): Pattern {
  const names: string[] = [];
  let source = '';
  for (let at = 0; at < format.length; ) {
    const part = parts.find(([name]) => format.startsWith(name, at));
    const literal = /^\[([^\]]*)\]/.exec(format.slice(at));
    const sign = format[at] ?? '';
    if (part !== undefined) {
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
      const known = `${parts.map(([name]) => name).join(', ')}, or one of iso, as_written, epoch_s, epoch_ms, epoch_days, dotnet`;
      return { kind: 'bad', message: `unknown part ${sign} of a date format; use ${known}`, offset: at };
    }
  }
  const missing = [
    names.some((name) => name.startsWith('Y')) ? '' : 'a year (YYYY)',
    names.some((name) => name.startsWith('M')) ? '' : 'a month (MM)',
    names.some((name) => name.startsWith('D')) ? '' : 'a day (DD)',
  ].find((text) => text !== '');
  if (missing !== undefined)
    return { kind: 'bad', message: `the date format ${format} has no ${missing.slice(2)}`, offset: 0 };
  const regex = new RegExp(`^${source}$`, 'u');
  const places = new Map(names.map((name, index) => [name, index + 1]));
  return { kind: 'ok', read: (value) => readPattern(value, regex, places, { timezone, meaning }) };
}

function readPattern(
  value: Json,
  regex: RegExp,
  places: ReadonlyMap<string, number>,
  { timezone, meaning }: { readonly timezone: string; readonly meaning: Meaning },
): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const found = regex.exec(String(value).trim());
  if (!found) return undefined;
  const part = (...names: string[]): string | undefined => {
    const name = names.find((candidate) => places.has(candidate));
    return name === undefined ? undefined : found[places.get(name) ?? 0];
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
