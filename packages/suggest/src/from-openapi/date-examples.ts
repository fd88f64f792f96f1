import type { Json } from '../../../../src/terms.ts';
import { dateFormat } from '../formats.ts';

const inWords = /\b(d{1,2}|m{1,2}|yyyy)([./-])(d{1,2}|m{1,2})\2(d{1,2}|yyyy)\b/i;

/** How a description writes its dates: in words (dd.MM.yyyy), or by the examples. Undefined if it shows neither. */
export function writtenFormat(examples: readonly (Json | undefined)[], about: string): string | undefined {
  const [said] = inWords.exec(about) ?? [];
  if (said !== undefined) return said.toUpperCase() === 'YYYY-MM-DD' ? 'iso' : said.toUpperCase();
  const texts = examples.filter((one) => typeof one === 'string');
  if (texts.length === 0 || !texts.every((text) => /\d{4}/.test(text) && /\D/.test(text))) return undefined;
  const found = dateFormat(texts);
  // A time of day needs more than the pattern of a day.
  return found === undefined || found.share < 1 || found.format.includes(' ') ? undefined : found.format;
}

/** A day in a pattern such as DD.MM.YYYY; a format that is not a pattern of numbers is left in ISO. */
export function inFormat(day: string, format: string): string {
  const [year = '', month = '', date = ''] = day.split('-');
  if (!/^[DMY./-]+$/.test(format)) return day;
  return format
    .replace('YYYY', year)
    .replace(/MM?/, (word) => (word.length === 2 ? month : String(Number(month))))
    .replace(/DD?/, (word) => (word.length === 2 ? date : String(Number(date))));
}
