import { type ListName, listFields } from '../../../src/canonical/fields.ts';
import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { type FieldLine, fieldMap, lineOf } from './field.ts';
import { plain } from './kinds.ts';
import { type Leaf, present } from './leaf.ts';
import type { Match } from './match.ts';
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
