import { type ListName, listFields } from '../canonical/fields.ts';
import type { FieldMap, FlatConfig, ListMap, MapConfig, ShapeConfig } from './config.ts';
import type { Env } from './env.ts';
import { compileSlot } from './field.ts';
import { type Conflict, groupBy, overRows } from './flat.ts';
import { compileFrom, filtered } from './list-source.ts';
import { compileEach } from './read.ts';
import type { Each, Read, Scope } from './scope.ts';
import { asList, compileKey, compileTable } from './table.ts';
import { compileValues, type Translate } from './values.ts';

/** One way in which a list's items come about: where they are, and how each field of an item is read. */
export interface ListPart {
  readonly items: Each;
  readonly reads: { readonly [field: string]: Read };
  /** Items have no key that tells them apart, so those with equal content are one. */
  readonly byContent: boolean;
}

type AnyListMap = ListMap<string>;

/** The parts of guests, rooms or charges, whose items follow one another. */
export function compileList(name: ListName, config: ShapeConfig, conflict: Conflict | undefined, env: Env): ListPart[] {
  const map = config.map?.[name] as MapConfig[ListName] | undefined;
  if (map === false) return [];
  const flat = config.shape?.flat;
  if (flat !== undefined && map === undefined && flat[name] === undefined) return [];
  const at = `map.${name}`;
  if (Array.isArray(map))
    return (map as AnyListMap[]).map((part, index) =>
      compilePart(name, part, `${at}[${index}]`, config, conflict, env),
    );
  return [compilePart(name, (map ?? {}) as AnyListMap, at, config, conflict, env)];
}

function compilePart(
  name: ListName,
  map: AnyListMap,
  at: string,
  config: ShapeConfig,
  conflict: Conflict | undefined,
  env: Env,
): ListPart {
  const flat = config.shape?.flat;
  const from = compileOrigin(name, map, at, flat !== undefined, env);
  const joined = map.join === undefined ? from : compileJoin(name, from, map.join, `${at}.join`, env);
  const chosen = filtered(joined, map, at, env);
  const items =
    flat === undefined || conflict === undefined ? chosen : regrouped(chosen, name, map, flat, conflict, env);
  const reads: { [field: string]: Read } = {};
  const known: { readonly [field: string]: string } = listFields[name];
  for (const field of Object.keys(map.fields ?? {})) {
    if (!Object.hasOwn(known, field))
      env.problem(`${at}.fields.${field}`, `unknown field ${field}; ${name} have ${Object.keys(known).join(', ')}`);
  }
  for (const [field, kind] of Object.entries(listFields[name])) {
    const slot = { within: name, field, kind, values: valuesFor(field, config) };
    const own: FieldMap | undefined = map.fields?.[field];
    const fieldAt = `${at}.fields.${field}`;
    reads[field] = compileSlot(own, slot, fieldAt, env, (read) =>
      conflict === undefined ? read : overRows(read, slot, conflict.rule),
    );
  }
  return { items, reads, byContent: flat !== undefined && flat[name] === undefined };
}

export function valuesFor(field: string, config: ShapeConfig): Translate | undefined {
  const map = config.values?.[field as keyof typeof config.values];
  return map === undefined ? undefined : compileValues(map);
}

/** Where nothing is said: the list of that name; the row itself for flat rows; the record itself where another list is joined to it. */
function compileOrigin(name: ListName, map: AnyListMap, at: string, flat: boolean, env: Env): Each {
  const { from } = map;
  if (from === undefined) return compileFrom([flat || map.join !== undefined ? '$item' : name], at, env);
  if (typeof from === 'object' && 'first' in from) return firstThere(from.first, `${at}.from.first`, env);
  return compileFrom(asList(from), `${at}.from`, env);
}

function firstThere(paths: readonly string[], at: string, env: Env): Each {
  const eaches = paths.flatMap((text, index) => {
    const path = env.path(text, `${at}[${index}]`);
    return path === undefined ? [] : [compileEach(path, env.traced)];
  });
  return (scope) => {
    for (const each of eaches) {
      const items = each(scope);
      if (items.length > 0) return items;
    }
    return [];
  };
}

/** Each item gives way to the rows that refer to it, or that it refers to; without any, it stays as it is. */
function compileJoin(name: ListName, from: Each, join: NonNullable<AnyListMap['join']>, at: string, env: Env): Each {
  const find = compileTable(join.in, asList(join.key), at, env);
  const key = compileKey(asList(join.by), `${at}.by`, env);
  return (scope) =>
    from(scope).flatMap((item): readonly Scope[] => {
      const text = key(item);
      const rows = text === undefined ? [] : find(item, text);
      if (rows.length > 0) return rows;
      const isRecord = item === scope;
      if (isRecord) return [];
      const reason = `${join.in} has no row for this item of ${name}; only what the item itself says is taken.`;
      scope.root.notes.push({ step: 'shape', field: name, code: 'join_missing', reason });
      return [item];
    });
}

/** Flat rows: the items of all rows, those with one key made one. A row whose key is empty has no such item. */
function regrouped(each: Each, name: ListName, map: AnyListMap, flat: FlatConfig, conflict: Conflict, env: Env): Each {
  const own = flat[name];
  const key = own === undefined ? undefined : compileKey(asList(own.key), `shape.flat.${name}.key`, env);
  const rowIsItem = map.from === undefined;
  return (scope) => {
    const items = (scope.group ?? [scope])
      .toSorted((a, b) => Number(a.key) - Number(b.key))
      .flatMap((row) => each(row));
    if (key === undefined) return items;
    let nameless = 0;
    const named = rowIsItem ? items.filter((item) => key(item) !== undefined) : items;
    const groups = groupBy(named, (item) => key(item) ?? `\u0000${nameless++}`);
    return [...groups.values()].map((rows) => asOne(conflict.rank(rows)));
  };
}

/** Several rows as the one item that they speak of. */
export function asOne(ranked: readonly Scope[]): Scope {
  const [first] = ranked;
  if (first === undefined) throw new Error('a group of rows is never empty');
  return ranked.length === 1 ? first : { ...first, group: ranked };
}
