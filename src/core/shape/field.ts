import type { JsonObject } from '../../terms.ts';
import { valueSources } from '../canonical/value-sources.ts';
import { isInherited } from '../json-path/path.ts';
import type { FieldForm, FieldMap } from './config.ts';
import { compileDates, type DateReader } from './dates.ts';
import { documentPath, type Env } from './env.ts';
import { compileModifiers } from './modify.ts';
import { isBlank, type Read, type Scope } from './scope.ts';
import { compileSource } from './source.ts';
import { asList } from './table.ts';
import { newSlot, type Reading, type Slot, slotName, slotPath } from './values.ts';

const absent: Read = () => undefined;

/** Compiles one field of the mapping. A field with a mistake reads as absent; the environment collects the mistake. */
export function compileField(map: FieldMap | undefined, slot: Slot, at: string, env: Env): Read {
  if (map === false) return absent;
  if (map === undefined) return env.asImplied(() => compileForm({ path: slot.field }, slot, at, '', env));
  if (typeof map === 'string') return compileForm({ path: map }, slot, at, '', env);
  return compileForm(map, slot, at, '.', env);
}

function compileForm(form: FieldForm, slot: Slot, at: string, dot: '' | '.', env: Env): Read {
  if (form.if_invalid === 'dead_letter') env.strict.add(slotName(slot));
  const given = valueSources.filter((name) => form[name] !== undefined);
  if (given.length > 1) {
    env.problem(at, `has ${given.length} sources, ${given.join(' and ')}; keep one, or list alternatives under first`);
    return absent;
  }
  if (given.length === 0 && slot.piece) {
    env.problem(at, `has no source; give one of ${valueSources.join(', ')}`);
    return absent;
  }
  // Modifiers without a source apply to the partner's field of the same name.
  const sourced = given.length === 0 ? { ...form, path: slot.field } : form;
  const read = { ...slot, reading: readingOf(form, slot, at, env) };
  return compileModifiers(compileSource(sourced, read, at, dot, env), sourced, read, at, env);
}

/** Compiles a field of the record or of a list item, whose origin a trace records. */
export function compileSlot(
  map: FieldMap | undefined,
  slot: Slot,
  at: string,
  env: Env,
  over: (read: Read) => Read = (read) => read,
): Read {
  const read = over(compileField(map, slot, at, env));
  const form = typeof map === 'object' ? map : {};
  return (scope) => {
    const { trace } = scope.root;
    if (trace === undefined) return read(scope);
    trace.sources = [];
    trace.present = false;
    const value = read(scope);
    if (!isBlank(value)) trace.origins[slotPath(slot, scope.root)] = originOf(trace.sources, form);
    if (trace.present && slot.within !== undefined)
      trace.itemKeys.add(slot.within === 'guests.extra' ? 'extra' : slot.field);
    return value;
  };
}

/** As a person would write the computation: `qty × price`, `min(a, b)`, `a + b`. */
function originOf(sources: readonly string[], { product, min, max }: FieldForm): string {
  const [only] = sources;
  if (only === undefined) return '(constant)';
  if (sources.length === 1) return only;
  const distinct = [...new Set(sources)];
  if (min !== undefined || max !== undefined) return `${min === undefined ? 'max' : 'min'}(${distinct.join(', ')})`;
  return distinct.join(product === undefined ? ' + ' : ' × ');
}

export type ReadExtra = (scope: Scope) => JsonObject | undefined;

/** Compiles `extra` of the reservation or of its guests: names that the connector chooses, each with any JSON value. */
export function compileExtra(
  fields: { readonly [name: string]: FieldMap } | undefined,
  within: 'extra' | 'guests.extra',
  at: string,
  env: Env,
  over: (slot: Slot) => (read: Read) => Read,
): ReadExtra | undefined {
  const reads = Object.entries(fields ?? {}).map(([field, map]): [string, Read] => {
    const place = documentPath(at, field);
    if (isInherited(field)) env.problem(place, `the name ${field} is not allowed`);
    const slot = newSlot(within, field, 'json');
    return [field, compileSlot(map, slot, place, env, over(slot))];
  });
  if (reads.length === 0) return undefined;
  return (scope) => {
    const extra: JsonObject = {};
    let some = false;
    for (const [name, read] of reads) {
      const value = read(scope);
      if (value === undefined) continue;
      extra[name] = value;
      some = true;
    }
    return some ? extra : undefined;
  };
}

/** The number and date formats of a field: its own modifiers, else those of the enclosing field; dates, else the connector's. */
function readingOf(form: FieldForm, slot: Slot, at: string, env: Env): Reading {
  const number = form.number ?? slot.reading.number;
  const date =
    form.date === undefined ? (slot.reading.date ?? usualDate(slot, env)) : ownDate(form.date, slot, at, env);
  return { number, date };
}

function ownDate(date: string | readonly string[], slot: Slot, at: string, env: Env): DateReader | undefined {
  const compiled = compileDates(asList(date), env.options.timezone, meaningOf(slot));
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
