import type { Json, JsonObject } from '../../terms.ts';
import { pathText } from '../json-path/path.ts';
import type { Env } from './env.ts';
import { compileEach, compileRead, silent } from './read.ts';
import { keyText, type Read, type Root, type Scope } from './scope.ts';

/** The rows of a table elsewhere in the response that have the key. Their parent is the scope of the lookup. */
export type Find = (scope: Scope, key: string) => readonly Scope[];

type Index = ReadonlyMap<string | undefined, readonly Place[]>;

/**
 * A table is a list with a key in each row, or an object keyed by name. A list is indexed once per response: lookups would otherwise
 * cost the square of the page.
 */
export function compileTable(text: string, keys: readonly string[] | undefined, at: string, env: Env): Find {
  const path = env.path(text, `${at}.in`);
  const key = keys === undefined ? undefined : compileKey(keys, `${at}.key`, env);
  if (path?.steps.some((step) => step.kind === 'each'))
    env.problem(`${at}.in`, 'a table is one list or one object; the path cannot go through lists');
  if (path === undefined) return () => [];
  const table = compileRead(path, false);
  const indexes = new WeakMap<object, Index>();
  env.tables.add(text);
  return (scope, wanted) => {
    const rows = table(scope);
    scope.root.trace?.outside.add(`${text} ${JSON.stringify([keys, wanted])}`);
    scope.root.trace?.mark(path.use, rows !== undefined);
    if (typeof rows !== 'object' || rows === null) return [];
    let values: readonly Place[];
    if (key === undefined) {
      values = Object.hasOwn(rows, wanted) ? [Array.isArray(rows) ? Number(wanted) : wanted] : [];
    } else {
      const index = indexes.getOrInsertComputed(rows, () => indexRows(rows, key, scope));
      if (scope.root.trace !== undefined) readAgain(index, rows, key, text, scope);
      values = index.get(wanted) ?? [];
    }
    return values.map((place) => rowFound(rows, place, text, scope));
  };
}

type Rows = Json[] | JsonObject;
type Place = string | number;
type Key = (scope: Scope) => string | undefined;

const rowAt = (rows: Rows, place: Place, at: string, root: Root, up?: Scope): Scope => {
  return { item: (rows as JsonObject)[place], key: place, up, root, at, group: undefined };
};

function rowFound(rows: Rows, place: Place, tableAt: string, scope: Scope): Scope {
  const { root } = scope;
  if (root.trace === undefined) return rowAt(rows, place, '', root, scope);
  root.trace.tables.getOrInsertComputed(tableAt, () => new Set()).add(place);
  return rowAt(rows, place, pathText(tableAt, place), root, scope);
}

/** Kept for other records too, so no trace sees it made. */
function indexRows(rows: Rows, key: Key, { root }: Scope): Index {
  const places: Place[] = Array.isArray(rows) ? [...rows.keys()] : Object.keys(rows);
  const unseen = { ...root, trace: undefined };
  return Map.groupBy(places, (place) => key(rowAt(rows, place, '', unseen)));
}

/** What a trace sees of the key of a table: that of a row which has one. */
function readAgain(index: Index, rows: Rows, key: Key, tableAt: string, { root }: Scope): void {
  const [place] = index.entries().find(([text]) => text !== undefined)?.[1] ?? index.get(undefined) ?? [];
  if (place !== undefined) key(rowAt(rows, place, pathText(tableAt, place), root));
}

/** As `compileKey`; a single path to a list of ids gives each of them, once. */
export function compileKeys(keys: readonly string[], at: string, env: Env): (scope: Scope) => readonly string[] {
  const [text] = keys;
  if (keys.length !== 1 || text === undefined) {
    const key = compileKey(keys, at, env);
    return (scope) => textsOf([key(scope)]);
  }
  const path = env.path(text, at);
  if (path === undefined) return () => [];
  const each = path.steps.some(({ kind }) => kind === 'each') ? compileEach(path) : undefined;
  const read = silent(compileRead(path));
  return (scope) => {
    const value = read(scope);
    if (each !== undefined) return textsOf(each(scope).map(({ item }) => item));
    return textsOf(Array.isArray(value) ? value : [value]);
  };
}

function textsOf(values: readonly (Json | undefined)[]): readonly string[] {
  const texts = values.flatMap((value) => keyText(value) ?? []);
  return texts.length < 2 ? texts : [...new Set(texts)];
}

/** The text of a key of one or more paths; undefined if one of them is empty. */
export function compileKey(keys: readonly string[], at: string, env: Env): (scope: Scope) => string | undefined {
  const reads: Read[] = [];
  for (const [index, text] of keys.entries()) {
    const path = env.path(text, keys.length === 1 ? at : `${at}[${index}]`);
    if (path !== undefined) reads.push(silent(compileRead(path)));
  }
  const [only] = reads;
  if (reads.length === 1 && only !== undefined) return (scope) => keyText(only(scope));
  return (scope) => {
    const texts: string[] = [];
    for (const read of reads) {
      const text = keyText(read(scope));
      if (text === undefined) return undefined;
      texts.push(text);
    }
    return texts.length === 0 ? undefined : JSON.stringify(texts);
  };
}

export function asList(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value;
}
