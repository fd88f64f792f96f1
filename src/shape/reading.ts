import type { FieldForm } from './config.ts';
import { compileDates, type DateReader } from './dates.ts';
import type { Env } from './env.ts';
import type { Reading, Slot } from './slot.ts';

/** The number and date formats of a field: its own modifiers, else those of the enclosing field, else the connector's. */
export function readingOf(form: FieldForm, slot: Slot, at: string, env: Env): Reading {
  const numeric = slot.kind === 'decimal' || slot.kind === 'integer' || slot.kind === 'count';
  const number = form.number ?? slot.reading.number ?? (numeric ? env.options.numbers : undefined);
  const date =
    form.date === undefined ? (slot.reading.date ?? usualDate(slot, env)) : ownDate(form.date, slot, at, env);
  return { number, date };
}

function ownDate(date: string | readonly string[], slot: Slot, at: string, env: Env): DateReader | undefined {
  const compiled = compileDates(typeof date === 'string' ? [date] : date, env.options.timezone, meaningOf(slot));
  if (compiled.kind === 'ok') return compiled.read;
  const place = typeof date === 'string' ? `${at}.date` : `${at}.date[${compiled.index}]`;
  env.problem(place, compiled.message, compiled.offset);
  return undefined;
}

/** A birthday is not an instant: it stays as written, whatever time zone its midnight has. */
const meaningOf = ({ kind }: Slot) => (kind === 'birth_date' ? 'birth' : 'day');

function usualDate(slot: Slot, env: Env): DateReader | undefined {
  if (slot.kind !== 'date' && slot.kind !== 'birth_date') return undefined;
  const { dates, timezone } = env.options;
  const compiled = compileDates(dates, timezone, meaningOf(slot));
  // checkConfig reports a mistake in the connector's own formats.
  return compiled.kind === 'ok' ? compiled.read : undefined;
}
