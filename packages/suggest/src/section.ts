import { type ListName, listFields } from '../../../src/core/canonical/fields.ts';
import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { dateFormat, isNoDate, numberFormat } from './formats.ts';
import { kindOf } from './kinds.ts';
import { type Leaf, plain, present } from './leaf.ts';
import { type Match, valuesOf } from './match.ts';
import { guessStatus } from './vocabulary.ts';

/** One list of the mapping with its source, its fields and their reasons. */
export interface Section {
  readonly map: JsonObject;
  readonly lines: readonly FieldLine[];
  readonly matches: ReadonlyMap<string, Match>;
  /** All leaves of an item, if known. */
  readonly leaves?: readonly Leaf[];
}

export function sectionOf(
  prefix: ListName,
  head: JsonObject,
  matches: ReadonlyMap<string, Match>,
  more: JsonObject = {},
): Section {
  const fields: JsonObject = {};
  const lines: FieldLine[] = [];
  for (const field of Object.keys(listFields[prefix])) {
    const match = matches.get(field);
    if (match === undefined) continue;
    const { map, remark } = fieldMap(match);
    fields[field] = map;
    const line = lineOf(prefix, match, remark);
    lines.push({ ...line, path: placed(head, line.path) });
  }
  return { map: { ...head, fields: { ...fields, ...more } }, lines, matches };
}

/** The path with its list before it. */
function placed(head: JsonObject, path: string): string {
  const list = isObject(head.join) ? head.join.in : isObject(head.from) ? (head.from.first as Json[])[0] : head.from;
  return typeof list !== 'string' || list === '$item' || path.startsWith('$') ? path : `${list}.${path}`;
}

/** A field that needs more than its leaf, such as a sum. */
export function withField(section: Section, field: string, map: Json, remark: string, most = 1): Section {
  const lines = section.lines.map((line) =>
    line.field.endsWith(`.${field}`)
      ? { ...line, reason: `${line.reason}; ${remark}`, confidence: Math.min(line.confidence, most) }
      : line,
  );
  return {
    ...section,
    lines,
    map: { ...section.map, fields: { ...(section.map.fields as JsonObject), [field]: map } },
  };
}

/** Excludes deleted items: cancelled lines, anonymized guests. */
export function goneCondition(leaves: readonly Leaf[]): JsonObject | undefined {
  for (const leaf of leaves) {
    const values = present(leaf);
    if (leaf.kind !== 'value' || leaf.depth > 0) continue;
    if (
      leaf.own.some((word) => ['anonymized', 'deleted', 'voided', 'void', 'removed'].includes(word)) &&
      values.includes(true)
    )
      return { [leaf.path]: { not: true } };
    if (!leaf.own.some((word) => word === 'status' || word === 'state')) continue;
    const gone = [...new Set(values.filter((value) => typeof value === 'string' && isGone(value)))];
    if (gone.length > 0 && gone.length < new Set(values.map(plain)).size)
      return { [leaf.path]: { not: gone.length === 1 ? (gone[0] as Json) : gone } };
  }
  return undefined;
}

const isGone = (value: string) => /cancel|void|storn|anul/i.test(value) && guessStatus(value) === 'cancelled';

/** Merges the conditions of a section. */
export function withWhere(head: JsonObject, where: Json | undefined): JsonObject {
  if (where === undefined) return head;
  return { ...head, where: isObject(head.where) && isObject(where) ? { ...head.where, ...where } : where };
}

/** One line of the proposal. */
export interface FieldLine {
  /** Canonical: check_in, guests.email. */
  readonly field: string;
  readonly path: string;
  readonly confidence: number;
  readonly reason: string;
}

export const asLine = (
  field: string,
  place: Json | undefined,
  { confidence, reason }: Omit<FieldLine, 'field' | 'path'>,
) => {
  return { field, path: typeof place === 'string' ? place : JSON.stringify(place), confidence, reason };
};

const nothings = new Set(['na', 'n/a', 'none', 'null', '-', '--', 'unknown', 'undefined', 'not available']);

/** The mapping of a match, with the modifiers that its values need. */
export function fieldMap({ field, leaf, others }: Pick<Match, 'field' | 'leaf' | 'others'>): {
  readonly map: Json;
  readonly remark?: string;
} {
  if (leaf.kind === 'list') return { map: { count: leaf.path, default: 0 } };
  if (leaf.kind === 'many') return { map: { sum: leaf.path } };
  const { modifiers, remark } = modifiersFor(
    field,
    valuesOf({ leaf, others }).filter((value) => value !== undefined) as Json[],
    leaf,
  );
  const sources = [leaf, ...others].map((one) => overList(field, one) ?? one.source);
  const [only] = sources;
  const source: JsonObject =
    sources.length > 1 ? { first: sources } : typeof only === 'string' ? { path: only } : (only as JsonObject);
  const bare = sources.length === 1 && typeof only === 'string' && Object.keys(modifiers).length === 0;
  return { map: bare ? (only as Json) : { ...source, ...modifiers }, ...(remark !== undefined && { remark }) };
}

/** Over a list of stays: the first arrival, the last departure, the sum of the amounts. */
function overList(field: string, { inList }: Leaf): Json | undefined {
  if (inList === undefined) return undefined;
  if (field === 'check_in') return { min: { ...inList } };
  if (field === 'check_out') return { max: { ...inList } };
  return kindOf(field) === 'decimal' ? { sum: { ...inList } } : undefined;
}

function modifiersFor(field: string, values: Json[], leaf: Leaf): { modifiers: JsonObject; remark?: string } {
  const kind = kindOf(field);
  if (kind === 'date' || kind === 'birth_date') {
    const none = [...new Set(values.filter(isNoDate))];
    const date = dateFormat(values.filter((value) => !isNoDate(value)));
    const modifiers: JsonObject = {};
    if (none.length > 0) modifiers.empty = none;
    if (date !== undefined && date.format !== 'iso') modifiers.date = date.format;
    if (date?.format === 'iso' && kind === 'date' && values.some(hasLocalOffset)) modifiers.date = 'as_written';
    const isLastNight = leaf.isLastNight || (leaf.own.includes('last') && leaf.own.includes('night'));
    if (isLastNight && (field === 'check_out' || field === 'end_date'))
      return { modifiers: { ...modifiers, add_days: 1 }, remark: 'the day after the last night' };
    return date?.open
      ? { modifiers, remark: 'day and month could be the other way round: the sample does not show it' }
      : { modifiers };
  }
  if (kind === 'decimal') {
    const format = numberFormat(values);
    const modifiers: JsonObject = format === 'comma' || format === 'point' ? { number: format } : {};
    const { own } = leaf;
    if (own.some((word) => word === 'cents' || word === 'minor')) modifiers.minor_units = 'currency';
    if (leaf.minor !== true) return { modifiers };
    return {
      modifiers: { ...modifiers, minor_units: 'currency' },
      remark: 'in minor units, as the field beside it shows',
    };
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

/** A time with an offset is local at the property: its date needs no conversion. */
function hasLocalOffset(value: Json): boolean {
  return typeof value === 'string' && /[T ]\d{2}:\d{2}.*[+-](?!00:?00)\d{2}:?\d{2}$/.test(value);
}

export function lineOf(prefix: string, { field, leaf, others, confidence, reason }: Match, remark?: string): FieldLine {
  const path = [leaf, ...others].map((one) => one.path).join(', then ');
  return {
    field: prefix === '' ? field : `${prefix}.${field}`,
    path,
    confidence: rounded(confidence),
    reason: remark === undefined ? reason : `${reason}; ${remark}`,
  };
}

/** No guess is certain. */
function rounded(confidence: number): number {
  return Math.min(0.99, Math.round(confidence * 100) / 100);
}
