import type { Json } from '../../terms.ts';
import { storable } from '../canonical/field-check.ts';
import type { FieldKind, ListName } from '../canonical/fields.ts';
import { foldSpelling } from '../canonical/values.ts';
import type { NamePart, NumberFormat, Scalar, ShapeConfig, ValueMap, ValuesConfig } from './config.ts';
import type { DateReader } from './dates.ts';
import { keyText, type Root } from './scope.ts';

/** The canonical value of a spelling, or undefined if the map does not list it. */
export type Translate = (spelling: string) => string | undefined;

const anyOther = '*';

/** Exact spellings win over words that differ only in case or separators; `*` comes last; a canonical value maps to itself. */
export function compileValues(map: ValueMap): Translate {
  const exact = new Map<string, string>();
  const folded = new Map<string, string>();
  let rest: string | undefined;
  const learn = (spelling: string, canonical: string): void => {
    if (!exact.has(spelling)) exact.set(spelling, canonical);
    const fold = folding(spelling);
    if (!folded.has(fold)) folded.set(fold, canonical);
  };
  for (const [canonical, spellings] of Object.entries(map)) {
    for (const spelling of listOf(spellings)) {
      if (spelling === anyOther) rest = canonical;
      else learn(String(spelling), canonical);
    }
  }
  for (const canonical of Object.keys(map)) learn(canonical, canonical);
  return (spelling) => {
    const known = exact.get(spelling);
    if (known !== undefined) return known;
    const meaning = folded.get(folding(spelling));
    if (meaning !== undefined && exact.size < mostSpellings) exact.set(spelling, meaning);
    return meaning ?? rest;
  };
}

const mostSpellings = 1_000;

/** Signs matter in numbers: -1 is not 1, and 1.5 is not 15. */
function folding(spelling: string): string {
  return /\p{L}/u.test(spelling) ? foldSpelling(spelling) : spelling;
}

function listOf(value: Scalar | readonly Scalar[] | undefined): readonly Scalar[] {
  if (value === undefined) return [];
  return typeof value === 'object' ? value : [value];
}

/** Spellings listed under two canonical values. */
export function doubleSpellings(map: ValueMap): readonly string[] {
  const owners = new Map<string, string>();
  const twice: string[] = [];
  for (const [canonical, spellings] of Object.entries(map)) {
    for (const spelling of new Set(listOf(spellings).map(String))) {
      const owner = owners.get(spelling);
      if (owner !== undefined && owner !== canonical) twice.push(spelling);
      owners.set(spelling, canonical);
    }
  }
  return twice;
}

/** Longer spellings are cut: they are not codes but a wrong mapping. */
const longest = 80;

export function drift(root: Root, field: string, spelling: string): void {
  const text = storable(spelling) ?? '';
  root.drift.push({ field, value: text.length > longest ? `${text.slice(0, longest)}…` : text });
}

/** Translates a value by its map; an unknown spelling stays unchanged and is counted. */
export function translated(value: Json, translate: Translate, field: string, root: Root): Json {
  const spelling = keyText(value)?.trim();
  if (spelling === undefined) return value;
  const canonical = translate(spelling);
  if (canonical !== undefined) return canonical;
  drift(root, field, spelling);
  return value;
}

/** The compiled value map of a field, if there is one: the connector's own spellings, then those of the workspace. */
export function valuesFor(
  field: string,
  { values, spellings }: Pick<ShapeConfig, 'values' | 'spellings'>,
): Translate | undefined {
  const [own, shared] = [values, spellings].map((maps) => {
    const map = maps?.[field as keyof ValuesConfig];
    return map === undefined ? undefined : compileValues(map);
  });
  return own && shared ? (spelling) => own(spelling) ?? shared(spelling) : (own ?? shared);
}

/** Particles: they belong to the family name after them. */
const particles: ReadonlySet<string> = new Set(
  `van von der den de del della dello di da dos das do du la le los las el al bin ibn ben bint ter ten tot zu zum zur vom af av st st. san santa mac mc o ó ní nic uí y e`.split(
    ' ',
  ),
);
const eastAsian = /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/**
 * One part of a full name. In `Berg, Anna van der` and `BERG/ANNA` the family name comes first; otherwise it is the last word with
 * the particles before it. Names in Chinese, Japanese and Korean script begin with the family name. A single word is a family name.
 */
export function namePart(full: string, part: NamePart): string | undefined {
  const [first, last] = splitName(full.trim().replace(/\s+/gu, ' '));
  const name = part === 'first' ? first : last;
  return name === '' ? undefined : name;
}

function splitName(full: string): [first: string, last: string] {
  const sign = full.includes(',') ? ',' : full.includes('/') ? '/' : undefined;
  if (sign !== undefined) {
    const at = full.indexOf(sign);
    return [full.slice(at + 1).trim(), full.slice(0, at).trim()];
  }
  const words = full.split(' ');
  if (words.length === 1) return ['', full];
  if (eastAsian.test(full)) return [words.slice(1).join(' '), words[0] ?? ''];
  let start = words.length - 1;
  while (start > 1 && isParticle(words[start - 1])) start--;
  return [words.slice(0, start).join(' '), words.slice(start).join(' ')];
}

function isParticle(word = ''): boolean {
  return particles.has(word.toLowerCase());
}

/** The canonical field that a mapping fills, or a piece of its value. */
export interface Slot {
  /** The list or object that contains the field. */
  readonly within: ListName | 'extra' | 'guests.extra' | undefined;
  readonly field: string;
  /** How a raw value is read; `json` is passed on unchanged. */
  readonly kind: FieldKind | 'json';
  /** The connector's value map for the field; pieces have none, since the complete value is looked up. */
  readonly values: Translate | undefined;
  /** A piece of a value: it has no default path. */
  readonly piece: boolean;
  /** Number and date formats, inherited from the enclosing form. */
  readonly reading: Reading;
}

/**
 * How raw numbers and dates are read. Done exactly once, where the value leaves the partner's JSON: with decimal commas, 1,234 read
 * twice would first become 1.234 and then 1234.
 */
export interface Reading {
  readonly number?: NumberFormat | undefined;
  readonly date?: DateReader | undefined;
}

/** The canonical path of a slot in the current record. */
export function slotPath(slot: Slot, root: Root): string {
  if (slot.within === undefined) return slot.field;
  if (slot.within === 'extra') return `extra.${slot.field}`;
  if (slot.within === 'guests.extra') return `guests[${root.index}].extra.${slot.field}`;
  return `${slot.within}[${root.index}].${slot.field}`;
}

/** Marks the value of a slot as the connector's own: the partner sent nothing for it. */
export function assume(slot: Slot, root: Root): void {
  root.assumed ??= new Set();
  root.assumed.add(slotPath(slot, root));
}

/** The name under which unknown spellings are counted. */
export function slotName(slot: Slot): string {
  return slot.within === undefined ? slot.field : `${slot.within}.${slot.field}`;
}

export function newSlot(within: Slot['within'], field: string, kind: Slot['kind'], values?: Translate): Slot {
  return { within, field, kind, values, piece: false, reading: {} };
}

/** One of the values that a field is built from. */
export function pieceOf(slot: Slot, kind: Slot['kind'] = slot.kind): Slot {
  return { ...slot, kind, values: undefined, piece: true };
}

/** A value used to compute the field, such as a key or a number of days. It does not have the field's format. */
export function asideOf(slot: Slot): Slot {
  return { ...slot, kind: 'json', values: undefined, piece: true, reading: {} };
}
