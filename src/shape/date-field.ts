import type { FieldForm } from './config.ts';
import { compileDates, type DateReader } from './dates.ts';
import type { Env } from './env.ts';
import type { Slot } from './slot.ts';

/**
 * How the dates of a field are written: as its own `date` says, else as the connector says for all, else ISO 8601. A birthday
 * is no instant: it stays as written, in whatever zone the partner writes its midnight.
 */
export function dateReaderFor(form: FieldForm, slot: Slot, at: string, env: Env): DateReader | undefined {
  const isDate = slot.kind === 'date' || slot.kind === 'birth_date';
  if (form.date === undefined && !isDate) return undefined;
  const own = form.date === undefined ? undefined : typeof form.date === 'string' ? [form.date] : form.date;
  const formats = own ?? env.options.dates;
  const compiled = compileDates(
    own === undefined && slot.kind === 'birth_date'
      ? formats.map((format) => (format === 'iso' ? 'as_written' : format))
      : formats,
    env.options.timezone,
  );
  if (compiled.kind === 'ok') return compiled.read;
  // The connector's own formats are checked where they stand.
  if (own !== undefined)
    env.problem(
      typeof form.date === 'string' ? `${at}.date` : `${at}.date[${compiled.index}]`,
      compiled.message,
      compiled.offset,
    );
  return undefined;
}
