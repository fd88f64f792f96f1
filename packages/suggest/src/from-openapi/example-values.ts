import type { Json, JsonObject } from '../../../../src/terms.ts';
import { dateFormat } from '../formats.ts';
import { enumOf, exampleOf, textOf } from './schema.ts';

/** Enough records for every status of a usual list to occur. */
export const recordCount = 18;

const has = (words: readonly string[], ...wanted: string[]) => wanted.some((word) => words.includes(word));

/** A made-up number for a name. `around`: the words of the objects that contain it; `index`: the number of the record. */
export function numberFor(words: readonly string[], around: readonly string[], whole: boolean, index: number): number {
  if (has(words, 'adults', 'adult', 'persons', 'pax', 'guests') && !has(words, 'id')) return 1 + (index % 2);
  if (has(words, 'children', 'child', 'infants', 'infant', 'kids')) return index % 2;
  if (has(words, 'nights', 'rooms') && has(words, 'number', 'no')) return 1 + (index % 3);
  if (has(words, 'id', 'number', 'no', 'reference', 'key') || (words.length === 0 && whole)) return 400_100 + index * 7;
  if (has(words, 'age')) return 8;
  if (has(words, 'nights', 'quantity', 'count', 'rooms', 'units')) return 1 + (index % 3);
  if (has(words, 'total', 'page', 'limit', 'offset') && whole && around.length <= 1) return 180;
  if (whole && !has(words, 'amount', 'price', 'total', 'cents')) return index % 5;
  const money = has([...around, ...words], 'total') ? 300.5 : 90.5;
  return whole ? Math.round(money * 100) + index : money + index;
}

/** The same for a text. */
export function textFor(
  schema: JsonObject,
  words: readonly string[],
  around: readonly string[],
  index: number,
): string {
  const choices = enumOf(schema);
  if (choices.length > 0) return String(choices[index % choices.length]);
  const format = textOf(schema.format);
  const shown = format === '' ? writtenFormat([exampleOf(schema)], textOf(schema.description)) : undefined;
  if (format === 'date' || format === 'date-time' || shown !== undefined || isDateName(words)) {
    const date = dateFor(format, words, around, index);
    return shown === undefined || shown === 'iso' ? date : inFormat(date, shown);
  }
  if (format === 'time') return '15:00';
  if (format === 'uuid') return `1f0c2a7e-0000-4000-8000-${String(100_000_000_000 + index)}`;
  const all = [...around, ...words];
  if (format === 'email' || has(words, 'email', 'mail')) return `guest${index}@mail.example`;
  if (has(words, 'phone', 'telephone', 'mobile', 'cell', 'tel')) return `+35191234${String(5_000 + index)}`;
  if (has(words, 'currency')) return 'EUR';
  if (has(words, 'nationality', 'citizenship')) return pick(['PT', 'DE', 'FR'], index);
  if (has(words, 'country', 'isocode') || (has(words, 'code', 'iso') && has(all, 'nationality', 'country')))
    return pick(['PT', 'DE'], index);
  if (has(words, 'first', 'given', 'forename')) return pick(['Ana', 'Rui', 'Mia'], index);
  if (has(words, 'last', 'surname', 'family')) return pick(['Moura', 'Lopes', 'Reis'], index);
  if (has(words, 'status')) return pick(['Confirmed', 'Cancelled', 'CheckedIn'], index);
  if (has(words, 'adults', 'adult')) return String(1 + (index % 2));
  if (has(words, 'children', 'child')) return String(index % 2);
  if (has(words, 'amount', 'price', 'total', 'balance', 'deposit')) return `${120 + index}.50`;
  if (has(words, 'board', 'meal')) return pick(['bed_and_breakfast', 'half_board', 'room_only'], index);
  if (has(words, 'number', 'id', 'ref', 'reference', 'confirmation', 'locator')) return `A${100_200 + index}`;
  if (has(words, 'channel')) return pick(['BDC', 'WEB', 'EXP'], index);
  if (has(words, 'code')) return pick(['STD', 'DLX', 'FAM'], index);
  if (has(words, 'name')) return pick(['Deluxe', 'Standard', 'Family'], index);
  return pick(['alpha', 'beta', 'gamma', 'delta'], index);
}

function pick(values: readonly string[], index: number): string {
  return values[index % values.length] ?? '';
}

function isDateName(words: readonly string[]): boolean {
  if (has(words, 'date', 'birthday', 'dob')) return true;
  const name = words.join(' ');
  return /^(?:.* )?(?:check in|check out|arrival|departure)$/.test(name);
}

function dateFor(format: string, words: readonly string[], around: readonly string[], index: number): string {
  const near = [...around.slice(-1), ...words];
  const offset = has(near, 'birth', 'dob', 'birthday', 'born')
    ? -14_000
    : has(words, 'departure', 'depart', 'out', 'end', 'to', 'until', 'checkout', 'leave')
      ? 3
      : has(words, 'created', 'create', 'booked', 'booking', 'made', 'inserted')
        ? -40
        : has(words, 'modified', 'updated', 'changed', 'cancelled', 'cancellation')
          ? -10
          : 0;
  const date = day(offset + (index % recordCount));
  return format === 'date-time' ? `${date}T12:00:00Z` : date;
}

/** Days after 2026-06-01, without a clock. */
export function day(offset: number): string {
  const ms = 1_780_272_000_000 + offset * 86_400_000;
  return new Date(ms).toISOString().slice(0, 10);
}

const inWords = /\b(d{1,2}|m{1,2}|yyyy)([./-])(d{1,2}|m{1,2})\2(d{1,2}|yyyy)\b/i;

/** How a description writes its dates: in words (dd.MM.yyyy), or by the examples. Undefined if it shows neither. */
export function writtenFormat(examples: readonly (Json | undefined)[], about: string): string | undefined {
  const [said] = inWords.exec(about) ?? [];
  if (said !== undefined) return said.toUpperCase() === 'YYYY-MM-DD' ? 'iso' : said.toUpperCase();
  const texts = examples.filter((one) => typeof one === 'string');
  if (texts.length === 0 || !texts.every((text) => /\d{4}/.test(text) && /\D/.test(text))) return undefined;
  const date = dateFormat(texts);
  // A time of day needs more than the pattern of a day.
  return date === undefined || date.share < 1 || date.format.includes(' ') ? undefined : date.format;
}

/** A day in a pattern such as DD.MM.YYYY; a format that is not a pattern of numbers is left in ISO. */
function inFormat(day: string, format: string): string {
  const [year = '', month = '', date = ''] = day.split('-');
  if (!/^[DMY./-]+$/.test(format)) return day;
  return format
    .replace('YYYY', year)
    .replace(/MM?/, (word) => (word.length === 2 ? month : String(Number(month))))
    .replace(/DD?/, (word) => (word.length === 2 ? date : String(Number(date))));
}
