import type { FieldForm } from './config.ts';
import { compileDates, type DateReader } from './dates.ts';
import type { Env } from './env.ts';
import type { Reading, Slot } from './slot.ts';

/** How the raw numbers and dates of a field are written: as its own modifiers say, else those around it, else the connector's. */
export function readingOf(form: FieldForm, slot: Slot, at: string, env: Env): Reading {
  const numeric = slot.kind === 'decimal' || slot.kind === 'integer' || slot.kind === 'count';
  const number = form.number ?? slot.reading.number ?? (numeric ? env.options.numbers : undefined);
  const date = form.date === undefined ? (slot.reading.date ?? usualDate(slot, env)) : ownDate(form.date, at, env);
  return { number, date };
}

function ownDate(date: string | readonly string[], at: string, env: Env): DateReader | undefined {
  const compiled = compileDates(typeof date === 'string' ? [date] : date, env.options.timezone);
  if (compiled.kind === 'ok') return compiled.read;
  const place = typeof date === 'string' ? `${at}.date` : `${at}.date[${compiled.index}]`;
  env.problem(place, compiled.message, compiled.offset);
  return undefined;
}

/** A birthday is no instant: it stays as written, in whatever zone the partner writes its midnight. */
function usualDate(slot: Slot, env: Env): DateReader | undefined {
  if (slot.kind !== 'date' && slot.kind !== 'birth_date') return undefined;
  const { dates, timezone } = env.options;
  const formats = slot.kind === 'date' ? dates : dates.map((format) => (format === 'iso' ? 'as_written' : format));
  const compiled = compileDates(formats, timezone);
  // A mistake in the connector's own formats is told where they stand.
  return compiled.kind === 'ok' ? compiled.read : undefined;
}
