import type { Json, JsonObject } from '../../../src/terms.ts';

/** One path of the sample's items that has values. */
export interface Leaf {
  readonly path: string;
  /** As a mapping writes it: the path, or a form such as `pick`. */
  readonly source: Json;
  readonly own: readonly string[];
  readonly around: readonly string[];
  /** One per item; undefined if the item has none. */
  readonly values: readonly (Json | undefined)[];
  /** list: the values are lists of plain values. many: there are several inside one item. */
  readonly kind: 'value' | 'list' | 'many';
  readonly depth: number;
  /** An integer beside a formatted text that shows it with decimals: 137375 and $1,373.75. */
  readonly minor?: boolean;
  /** The last of the nights that a list beside it has; the departure is the day after. */
  readonly isLastNight?: boolean;
  /** The values are the keys under which the response groups its records. */
  readonly isKey?: boolean;
  /** How many people of a list are of this age. */
  readonly counts?: string;
  /** A field of each item of a list in the record; `values` are those of the first item. */
  readonly inList?: { readonly from: string; readonly value: string };
}

/** Where a leaf is: the words of its key, those of the keys around it, and how deep it is. */
export type LeafPlace = Pick<Leaf, 'own' | 'around' | 'depth'>;

export function present(leaf: Pick<Leaf, 'values'>): Json[] {
  return leaf.values.filter((value) => value !== undefined) as Json[];
}

/** Every item of the sample has a value. */
export const isInEveryItem = (leaf: Leaf): boolean =>
  leaf.values.length > 0 && present(leaf).length === leaf.values.length;

/** A plain id that several items have: that of the type of a room, or of the article of a charge. */
export const isSharedId = (leaf: Leaf): boolean =>
  leaf.own.join(' ') === 'id' && new Set(present(leaf)).size < present(leaf).length;

/** A few items may lack the value, or the whole object around it. */
export const isInMost = (leaf: Leaf): boolean => present(leaf).length > leaf.values.length * 0.7;

/** Every item has its own. */
export const isUnique = (leaf: Leaf): boolean =>
  isInEveryItem(leaf) && new Set(leaf.values.map(String)).size === leaf.values.length;

export function plain(value: Json): string {
  return typeof value === 'object' ? '' : String(value).trim();
}

/** A flag or a count, not a code. */
export const isTiny = (value: Json): boolean =>
  typeof value === 'boolean' || /^(?:-?\d{1,2}|true|false)$/i.test(plain(value));

/** The keys that a mapping may use: not those inherited by every JavaScript object. */
export function keysOf(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => !(key in Object.prototype));
}

/** Null and empty text count as absent. */
export function emptied(value: Json | undefined): Json | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

/** Keys that are data themselves: numbers, dates, long ids. */
export function areIds(keys: readonly string[]): boolean {
  return (
    keys.length > 0 && keys.every((key) => /^(?:\d[\d-]*|[0-9a-f]{8}-[0-9a-f-]{20,}|(?=.*\d)[0-9a-f]{16,})$/i.test(key))
  );
}

export function child(path: string, key: string): string {
  const plain = /^[^\s.[\]'"$*][^\s.[\]'"]*$/.test(key) && !/^-?\d+$/.test(key);
  const step = plain
    ? key
    : key.includes("'")
      ? `"${key.replace(/["\\]/g, '\\$&')}"`
      : `'${key.replaceAll('\\', '\\\\')}'`;
  return path === '' ? step : `${path}.${step}`;
}

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('.')));
