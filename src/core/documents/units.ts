/** Amounts as documents write them: durations, sizes, and days from today. Each is read in two ways: any text, or one that the schema accepted. */

export const durationForm = /^(\d{1,9})(ms|s|m|h|d)$/;
const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export const sizeForm = /^(\d{1,9})(B|KiB|MiB|GiB)$/;
const unitBytes = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

type Parse = (text: string) => number | undefined;

const inUnits =
  (form: RegExp, units: Readonly<Record<string, number>>): Parse =>
  (text) => {
    const [, amount, unit = ''] = form.exec(text) ?? [];
    return amount === undefined ? undefined : Number(amount) * (units[unit] ?? Number.NaN);
  };

const accepted =
  (parse: Parse, what: string) =>
  (text: string): number => {
    const amount = parse(text);
    if (amount === undefined) throw new TypeError(`${JSON.stringify(text)} is no ${what}`);
    return amount;
  };

/** Milliseconds of a duration such as 500ms, 30s, 15m, 1h or 7d; undefined for any other text. */
export const parseDuration = inUnits(durationForm, unitMs);
export const durationMs = accepted(parseDuration, 'duration');

/** The shortest text with a whole number: 900000 is 15m, 60000 is 1m. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= unitMs[unit] && ms % unitMs[unit] === 0) return `${ms / unitMs[unit]}${unit}`;
  }
  return `${ms}ms`;
}

/** Bytes of a size such as 512KiB or 1MiB; undefined for any other text. */
export const parseSize = inUnits(sizeForm, unitBytes);
export const sizeBytes = accepted(parseSize, 'size');

export const dayOffsetForm = /^([+-]?)(\d{1,4})d$/;

/** Days from today for an offset such as +1d, 0d or -6d; undefined for any other text. */
export function parseDayOffset(text: string): number | undefined {
  const [, sign, days] = dayOffsetForm.exec(text) ?? [];
  if (days === undefined) return undefined;
  return sign === '-' && Number(days) > 0 ? -Number(days) : Number(days);
}
export const dayOffset = accepted(parseDayOffset, 'day offset');
