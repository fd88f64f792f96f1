import { isRealDate } from '../../../src/core/canonical/values.ts';
import type { Json } from '../../../src/terms.ts';

/** Detects the formats of dates and numbers in a sample. */

/** A zone in brackets may follow the offset: 2026-05-01T00:00:00Z[UTC]. */
const iso =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?(?:\[[\w/+-]+\])?)?$/i;

interface Form {
  readonly format: string;
  readonly form: RegExp;
  /** Capture groups of year, month and day. */
  readonly order?: readonly [number, number, number];
}

/** Day before month comes first: it is the more common order when a sample is ambiguous. */
const days: readonly Form[] = [
  { format: 'DD/MM/YYYY', form: /(\d{2})\/(\d{2})\/(\d{4})/, order: [3, 2, 1] },
  { format: 'MM/DD/YYYY', form: /(\d{2})\/(\d{2})\/(\d{4})/, order: [3, 1, 2] },
  { format: 'D/M/YYYY', form: /(\d{1,2})\/(\d{1,2})\/(\d{4})/, order: [3, 2, 1] },
  { format: 'M/D/YYYY', form: /(\d{1,2})\/(\d{1,2})\/(\d{4})/, order: [3, 1, 2] },
  { format: 'DD.MM.YYYY', form: /(\d{2})\.(\d{2})\.(\d{4})/, order: [3, 2, 1] },
  { format: 'D.M.YYYY', form: /(\d{1,2})\.(\d{1,2})\.(\d{4})/, order: [3, 2, 1] },
  { format: 'DD-MM-YYYY', form: /(\d{2})-(\d{2})-(\d{4})/, order: [3, 2, 1] },
  { format: 'MM-DD-YYYY', form: /(\d{2})-(\d{2})-(\d{4})/, order: [3, 1, 2] },
  { format: 'YYYY/MM/DD', form: /(\d{4})\/(\d{2})\/(\d{2})/, order: [1, 2, 3] },
  { format: 'YYYY.MM.DD', form: /(\d{4})\.(\d{2})\.(\d{2})/, order: [1, 2, 3] },
  { format: 'YYYY-M-D', form: /(\d{4})-(\d{1,2})-(\d{1,2})/, order: [1, 2, 3] },
  { format: 'YYYY/M/D', form: /(\d{4})\/(\d{1,2})\/(\d{1,2})/, order: [1, 2, 3] },
  { format: 'DD MMM YYYY', form: /\d{2} \p{L}{3} \d{4}/u },
  { format: 'D MMM YYYY', form: /\d{1,2} \p{L}{3} \d{4}/u },
  { format: 'DD-MMM-YYYY', form: /\d{2}-\p{L}{3}-\d{4}/u },
  { format: 'MMM D, YYYY', form: /\p{L}{3} \d{1,2}, \d{4}/u },
];

const times: readonly Form[] = [
  { format: '', form: /(?:)/ },
  { format: ' HH:mm', form: / \d{2}:\d{2}/ },
  { format: ' HH:mm:ss', form: / \d{2}:\d{2}:\d{2}/ },
  { format: ' h:mm A', form: / \d{1,2}:\d{2} [AP]M/ },
  { format: ' h:mm:ss A', form: / \d{1,2}:\d{2}:\d{2} [AP]M/ },
];

const forms: readonly Form[] = [
  { format: 'iso', form: iso, order: [1, 2, 3] },
  ...times.flatMap((time) =>
    days.map(({ format, form, ...day }) => ({
      ...day,
      format: format + time.format,
      form: new RegExp(`^${form.source}${time.form.source}$`, 'iu'),
    })),
  ),
  { format: 'YYYYMMDD', form: /^((?:19|20)\d{2})(\d{2})(\d{2})$/, order: [1, 2, 3] },
  { format: 'dotnet', form: /^\/Date\(-?\d{1,15}(?:[+-]\d{4})?\)\/$/ },
];

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
  const scored = readers
    .map(({ format, reads }) => ({ format, share: texts.filter(reads).length / texts.length }))
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

const readers: readonly { readonly format: string; readonly reads: (text: string) => boolean }[] = [
  ...forms.map(({ format, form, order }) => ({
    format,
    reads: (text: string) => {
      const match = form.exec(text);
      if (!match || order === undefined) return match !== null;
      return isRealDate(Number(match[order[0]]), Number(match[order[1]]), Number(match[order[2]]));
    },
  })),
  { format: 'epoch_ms', reads: (text) => /^\d{13}$/.test(text) },
  { format: 'epoch_s', reads: (text) => /^\d{9,10}$/.test(text) && Number(text) > 600_000_000 },
];

/** The day of a date in the given format, as a number of days; undefined if it cannot be read. */
function dayOf(value: Json | undefined, format: string): number | undefined {
  const text = String(value ?? '').trim();
  const { form, order } = forms.find((one) => one.format === format) ?? {};
  const [year, month, day] = order?.map((at) => Number(form?.exec(text)?.[at])) ?? [];
  const scale = { epoch_s: 1000, epoch_ms: 1 }[format];
  const ms =
    scale !== undefined
      ? Number(text) * scale
      : order === undefined
        ? Date.parse(text)
        : Date.UTC(year ?? Number.NaN, (month ?? 0) - 1, day);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 86_400_000);
}

/** The days of a leaf's values, one per item; NaN, which compares with nothing, for those that are not dates. */
export function daysOf(values: readonly (Json | undefined)[] = []): number[] {
  const format = dateFormat(values.filter((value) => value !== undefined))?.format;
  return values.map((value) => (format === undefined ? undefined : dayOf(value, format)) ?? Number.NaN);
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
