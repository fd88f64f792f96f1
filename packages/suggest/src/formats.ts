import { compileDates } from '../../../src/core/shape/dates.ts';
import type { Json } from '../../../src/terms.ts';

/** Detects the formats of dates and numbers in a sample. */

/** Day before month comes first: it is the more common order when a sample is ambiguous. */
const days = [
  'DD/MM/YYYY',
  'MM/DD/YYYY',
  'D/M/YYYY',
  'M/D/YYYY',
  'DD.MM.YYYY',
  'D.M.YYYY',
  'DD-MM-YYYY',
  'MM-DD-YYYY',
  'YYYY/MM/DD',
  'YYYY.MM.DD',
  'YYYY-M-D',
  'YYYY/M/D',
  'DD MMM YYYY',
  'D MMM YYYY',
  'DD-MMM-YYYY',
  'MMM D, YYYY',
];
const times = ['', ' HH:mm', ' HH:mm:ss', ' h:mm A', ' h:mm:ss A'];

/** The formats of a mapping, in the order of preference, with what else a value must look like: a mapping is told what is a date. */
const formats: readonly (readonly [format: string, look: RegExp])[] = [
  ['iso', /^\d{4}-/],
  ...times.flatMap((time) => days.map((day) => [day + time, /(?:)/] as const)),
  ['YYYYMMDD', /^(?:19|20)/],
  ['dotnet', /(?:)/],
  ['epoch_ms', /^\d{13}$/],
  ['epoch_s', /^(?:[6-9]\d{8}|\d{10})$/],
];

const readers = new Map(
  formats.map(([format, look]) => {
    const compiled = compileDates([format], 'UTC');
    const read = (text: string) => (compiled.kind === 'ok' && look.test(text) ? compiled.read(text) : undefined);
    return [format, read] as const;
  }),
);

export interface DateFormat {
  readonly format: string;
  /** Share of the values that it reads, 0 to 1: one bad date does not change the format. */
  readonly share: number;
  /** The other order of day and month reads as many values. */
  readonly open: boolean;
}

const leastShare = 0.6;

/** The format that reads most of the values, or undefined if none reads enough of them. */
export function dateFormat(values: readonly Json[]): DateFormat | undefined {
  if (values.length === 0) return undefined;
  const texts = values.map((value) =>
    typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '',
  );
  if (texts.filter((text) => /^\D{0,7}\d/.test(text)).length < texts.length * leastShare) return undefined;
  const scored = [...readers]
    .map(([format, read]) => ({ format, share: texts.filter(read).length / texts.length }))
    .filter(({ share }) => share >= leastShare);
  const [best] = scored.toSorted((a, b) => b.share - a.share);
  if (best === undefined) return undefined;
  const other = otherOrder(best.format);
  return { ...best, open: scored.some(({ format, share }) => format === other && share === best.share) };
}

/** The format with the other order of day and month. */
function otherOrder(format: string): string | undefined {
  const [, first, mark, second, rest] = /^(DD?|MM?)([/-])(DD?|MM?)([/-].*)$/.exec(format) ?? [];
  return first === undefined ? undefined : `${second}${mark}${first}${rest}`;
}

/** The days of a leaf's values, one per item; NaN, which compares with nothing, for those that are not dates. */
export function daysOf(values: readonly (Json | undefined)[] = []): number[] {
  const read = readers.get(dateFormat(values.filter((value) => value !== undefined))?.format ?? '');
  return values.map((value) => Date.parse(read?.(String(value).trim()) ?? '') / 86_400_000);
}

/** A date that says "no date". */
export function isNoDate(value: Json): boolean {
  return typeof value === 'string' && /^(?:0000-00-00|0001-01-01|1900-01-01|00\/00\/0000)/.test(value);
}

/** The number format; plain numbers need no declaration. */
export function numberFormat(values: readonly Json[]): 'plain' | 'point' | 'comma' | undefined {
  const texts = values.filter((value) => typeof value !== 'number');
  if (texts.some((value) => typeof value !== 'string')) return undefined;
  const bare = (texts as string[]).map((text) =>
    text.replace(/^[+-]?[\p{Sc}\s]+|[\p{Sc}\s]+$|^\p{Lu}{3}\s|\s\p{Lu}{3}$/gu, ''),
  );
  if (bare.every((text, i) => /^[+-]?\d+(?:\.\d+)?$/.test(text) && text === texts[i])) return 'plain';
  if (bare.every((text) => /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/.test(text))) return 'point';
  if (bare.every((text) => /^[+-]?(?:\d{1,3}(?:[. ]\d{3})+|\d+)(?:,\d+)?$/.test(text))) return 'comma';
  return undefined;
}
