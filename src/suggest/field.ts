import type { Json, JsonObject } from '../terms.ts';
import { dateFormat, isNoDate, numberFormat } from './formats.ts';
import { kindOf, plain } from './kinds.ts';
import type { Match } from './match.ts';
import { valuesOf } from './match.ts';

/** One line of the proposal. */
export interface FieldLine {
  /** Canonical: check_in, guests.email. */
  readonly field: string;
  readonly path: string;
  readonly confidence: number;
  readonly reason: string;
}

const nothings = new Set(['na', 'n/a', 'none', 'null', '-', '--', 'unknown', 'undefined', 'not available']);

/** A match as the mapping says it, with what its values need to be read. */
export function fieldMap({ field, leaf, others }: Pick<Match, 'field' | 'leaf' | 'others'>): {
  readonly map: Json;
  readonly remark?: string;
} {
  if (leaf.kind === 'list') return { map: { count: leaf.path, default: 0 } };
  if (leaf.kind === 'many') return { map: { sum: leaf.path } };
  const { modifiers, remark } = modifiersFor(
    field,
    valuesOf({ leaf, others }).filter((value) => value !== undefined) as Json[],
    leaf.own,
  );
  const sources = [leaf, ...others].map(({ source }) => source);
  const [only] = sources;
  const source: JsonObject =
    sources.length > 1 ? { first: sources } : typeof only === 'string' ? { path: only } : (only as JsonObject);
  const bare = sources.length === 1 && typeof only === 'string' && Object.keys(modifiers).length === 0;
  return { map: bare ? (only as Json) : { ...source, ...modifiers }, ...(remark !== undefined && { remark }) };
}

function modifiersFor(
  field: string,
  values: Json[],
  own: readonly string[],
): { modifiers: JsonObject; remark?: string } {
  const kind = kindOf(field);
  if (kind === 'date' || kind === 'birth_date') {
    const none = [...new Set(values.filter(isNoDate))];
    const found = dateFormat(values.filter((value) => !isNoDate(value)));
    const modifiers: JsonObject = {};
    if (none.length > 0) modifiers.empty = none;
    if (found !== undefined && found.format !== 'iso') modifiers.date = found.format;
    return found?.open
      ? { modifiers, remark: 'day and month could be the other way round: no value in the sample tells' }
      : { modifiers };
  }
  if (kind === 'decimal') {
    const format = numberFormat(values);
    const modifiers: JsonObject = format === 'comma' || format === 'point' ? { number: format } : {};
    if (own.some((word) => word === 'cents' || word === 'minor')) modifiers.minor_units = 'currency';
    return { modifiers };
  }
  const none = [
    ...new Set(values.filter((value) => typeof value === 'string' && nothings.has(value.trim().toLowerCase()))),
  ];
  return {
    modifiers:
      none.length > 0 && none.length < new Set(values.map(plain)).size + 1 && kind === 'text' && field !== 'board'
        ? { empty: none }
        : {},
  };
}

export function lineOf(prefix: string, { field, leaf, others, confidence, reason }: Match, remark?: string): FieldLine {
  const path = [leaf, ...others].map((one) => one.path).join(', then ');
  return {
    field: prefix === '' ? field : `${prefix}.${field}`,
    path,
    confidence: told(confidence),
    reason: remark === undefined ? reason : `${reason}; ${remark}`,
  };
}

/** Nothing guessed is certain. */
function told(confidence: number): number {
  return Math.min(0.99, Math.round(confidence * 100) / 100);
}
