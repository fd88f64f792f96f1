import type { Json } from '../../terms.ts';
import { parsePath } from '../json-path/path.ts';
import { compileCondition } from './condition.ts';
import type { JoinForm, ListForm, ListSource } from './config.ts';
import type { Env } from './env.ts';
import { compileEach, compileRead } from './read.ts';
import { type Each, isBlank, type Read, type Scope } from './scope.ts';
import { asList, compileKey, compileKeys, compileTable } from './table.ts';
import type { Slot } from './values.ts';

export type ListValues = ReturnType<typeof compileListSource>;

/** The values of a list inside a record, for sum, count, min, max and pick. */
export function compileListSource(source: ListSource, slot: Slot, at: string, env: Env) {
  const form: ListForm = typeof source === 'string' ? { from: source } : source;
  const place = typeof source === 'string' ? at : `${at}.from`;
  if (form.from === undefined && form.join === undefined) env.problem(at, 'has neither from nor join');
  const paths = asList(form.from ?? '$item');
  const joined = compileJoins(compileFrom(paths, place, env), form.join, `${at}.join`, env);
  return {
    items: filtered(joined, form, at, env),
    value: env.options.field(form.value ?? '$item', slot, `${at}.value`, env),
    isSent: compileSent(paths),
    /** Whether it is more than null. */
    isList: compileThere(paths),
  };
}

/** Whether the partner sent anything at one of the paths, even null or an empty list; a path to the item itself proves nothing. */
export function compileSent(paths: readonly string[]): (scope: Scope) => boolean {
  const reads = listsOf(paths);
  return (scope) => reads.some((read) => read(scope) !== undefined);
}

function compileThere(paths: readonly string[]): (scope: Scope) => boolean {
  const reads = listsOf(paths);
  return (scope) => reads.some((read) => (read(scope) ?? null) !== null);
}

function listsOf(paths: readonly string[]): readonly Read[] {
  return paths.flatMap((text) => {
    const parsed = parsePath(text);
    if (parsed.kind === 'bad' || parsed.path.steps.length === 0) return [];
    const { start, up, steps } = parsed.path;
    const each = steps.findIndex((step) => step.kind === 'each');
    return [compileRead({ start, up, steps: each < 0 ? steps : steps.slice(0, each) }, false)];
  });
}

/** The items of all paths, concatenated. */
export function compileFrom(paths: readonly string[], at: string, env: Env): Each {
  const eaches: Each[] = [];
  for (const [index, text] of paths.entries()) {
    const path = env.path(text, paths.length === 1 ? at : `${at}[${index}]`);
    if (path !== undefined) eaches.push(compileEach(path));
  }
  const [only] = eaches;
  if (eaches.length === 1 && only !== undefined) return only;
  return (scope) => eaches.flatMap((each) => each(scope));
}

/** Applies `where`, then `unique`. */
export function filtered(all: Each, form: Pick<ListForm, 'where' | 'unique'>, at: string, env: Env): Each {
  const holds = form.where === undefined ? undefined : compileCondition(form.where, `${at}.where`, env);
  const key = form.unique === undefined ? undefined : compileKey(asList(form.unique), `${at}.unique`, env);
  if (holds === undefined && key === undefined) return all;
  return (scope) => distinct(holds === undefined ? all(scope) : all(scope).filter(holds), key);
}

/** Keeps every item without a key. */
function distinct(items: readonly Scope[], key: ((scope: Scope) => string | undefined) | undefined): readonly Scope[] {
  if (key === undefined) return items;
  const seen = new Set<string>();
  return items.filter((item) => {
    const text = key(item);
    if (text === undefined) return true;
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}

export function valuesOf(list: ListValues, scope: Scope): Json[] {
  const values: Json[] = [];
  for (const item of list.items(scope)) {
    const value = list.value(item);
    if (value !== undefined && !isBlank(value)) values.push(value);
  }
  return values;
}

/**
 * Replaces each item by the table rows that have its key, one join after the other. An item without a row gives nothing: its own fields
 * belong to another table. `missing` is called for it, unless the record itself is joined, which may have no rows.
 */
export function compileJoins(
  from: Each,
  joins: JoinForm | JoinForm[] | undefined,
  at: string,
  env: Env,
  missing?: (item: Scope, join: JoinForm) => void,
): Each {
  if (joins === undefined) return from;
  return [joins].flat().reduce((each, join, index) => {
    const place = Array.isArray(joins) ? `${at}[${index}]` : at;
    const find = compileTable(join.in, asList(join.key), place, env);
    const keys = compileKeys(asList(join.by), `${place}.by`, env);
    return (scope: Scope) =>
      each(scope).flatMap((item) => {
        const rows = keys(item).flatMap((key) => find(item, key));
        if (rows.length === 0 && item !== scope) missing?.(item, join);
        return rows;
      });
  }, from);
}
