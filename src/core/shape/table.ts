import type { Json } from '../../terms.ts';
import { pathText } from '../json-path/path.ts';
import type { Env } from './env.ts';
import { markUse } from './path-use.ts';
import { compileEach, compileRead, silent } from './read.ts';
import { keyText, type Read, type Scope } from './scope.ts';

/** The rows of a table elsewhere in the response that have the key. Their parent is the scope of the lookup. */
export type Find = (scope: Scope, key: string) => readonly Scope[];

type Index = ReadonlyMap<string | undefined, readonly (string | number)[]>;

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
    markUse(path.use, rows !== undefined);
    if (typeof rows !== 'object' || rows === null) return [];
    let values: readonly (string | number)[];
    if (key === undefined) {
      values = Object.hasOwn(rows, wanted) ? [Array.isArray(rows) ? Number(wanted) : wanted] : [];
    } else {
      let index = indexes.get(rows);
      if (index === undefined) {
        index = indexRows(rows, key, scope);
        indexes.set(rows, index);
      }
      values = index.get(wanted) ?? [];
    }
    return values.map((place) => rowScope(rows, place, text, scope));
  };
}

function rowScope(
  rows: Json[] | { [key: string]: Json },
  place: string | number,
  tableAt: string,
  scope: Scope,
): Scope {
  const item = (rows as { [key: string]: Json })[place];
  const { root } = scope;
  if (root.trace === undefined) return { item, key: place, up: scope, root, at: '', group: undefined };
  const places = root.trace.tables.get(tableAt) ?? new Set();
  root.trace.tables.set(tableAt, places.add(place));
  return { item, key: place, up: scope, root, at: pathText(tableAt, place), group: undefined };
}

function indexRows(
  rows: Json[] | { [key: string]: Json },
  key: (scope: Scope) => string | undefined,
  asking: Scope,
): Index {
  const places: (string | number)[] = Array.isArray(rows) ? [...rows.keys()] : Object.keys(rows);
  return Map.groupBy(places, (place) => {
    const item = (rows as { [key: string]: Json })[place];
    return key({ item, key: place, up: undefined, root: asking.root, at: '', group: undefined });
  });
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
  const each = path.steps.some(({ kind }) => kind === 'each') ? compileEach(path, env.traced) : undefined;
  const read = silent(compileRead(path, env.traced));
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
    if (path !== undefined) reads.push(silent(compileRead(path, env.traced)));
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
