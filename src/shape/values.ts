import { storable } from '../canonical/field-check.ts';
import { foldSpelling } from '../canonical/status.ts';
import type { Json } from '../terms.ts';
import type { Scalar, ShapeConfig, ValueMap, ValuesConfig } from './config.ts';
import { type Drift, keyText, type Root } from './scope.ts';

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
    const found = folded.get(folding(spelling));
    if (found !== undefined && exact.size < mostSpellings) exact.set(spelling, found);
    return found ?? rest;
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
  const found: Drift = { field, value: text.length > longest ? `${text.slice(0, longest)}…` : text };
  root.drift.push(found);
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
