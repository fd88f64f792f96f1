import { type ListName, listFields } from '../canonical/fields.ts';
import { noteOf } from '../canonical/notes.ts';
import type { FlatConfig, ListMap, ShapeConfig } from './config.ts';
import type { Env } from './env.ts';
import { compileExtra, compileSlot, type ReadExtra } from './field.ts';
import { asOne, type Conflict, compileFlatKey, overRows } from './flat.ts';
import { compileFrom, compileJoins, compileSent, filtered } from './list-source.ts';
import { compileEach } from './read.ts';
import type { Each, Read, Scope } from './scope.ts';
import { asList } from './table.ts';
import { newSlot, valuesFor } from './values.ts';

/** One source of a list's items: where they are and how each field is read. */
export interface ListPart<Field extends string> {
  readonly items: Each;
  /** Whether the partner sent the list, even an empty one. Called only if no item was found. */
  readonly isSent: (scope: Scope) => boolean;
  readonly reads: readonly (readonly [name: Field, read: Read])[];
  /** Guests only. */
  readonly extra: ReadExtra | undefined;
  /** The partner's own id of an item. Read only when messages are merged. */
  readonly id: ((item: Scope) => string | undefined) | undefined;
  /** Items have no key, so items with equal content are merged. */
  readonly byContent: boolean;
}

type FieldOf<Name extends ListName> = keyof (typeof listFields)[Name] & string;

/** Compiles guests, rooms or charges. Several parts are concatenated. */
export function compileList<Name extends ListName>(
  name: Name,
  config: ShapeConfig,
  conflict: Conflict | undefined,
  env: Env,
): ListPart<FieldOf<Name>>[] {
  const map: ListMap<string> | ListMap<string>[] | false | undefined = config.map?.[name];
  if (map === false) return [];
  const flat = config.shape?.flat;
  if (flat !== undefined && map === undefined && flat[name] === undefined) return [];
  const at = `${env.options.mapAt}.${name}`;
  if (Array.isArray(map))
    return map.map((part, index) => compilePart(name, part, `${at}[${index}]`, config, conflict, env));
  return [compilePart(name, map ?? {}, at, config, conflict, env)];
}

function compilePart<Name extends ListName>(
  name: Name,
  map: ListMap<string>,
  at: string,
  config: ShapeConfig,
  conflict: Conflict | undefined,
  env: Env,
): ListPart<FieldOf<Name>> {
  const flat = config.shape?.flat;
  const from = compileOrigin(name, map, at, flat !== undefined, env);
  const joined = compileJoins(from, map.join, `${at}.join`, env, (item, join) => {
    const reason = `${join.in} has no row for an item of ${name}, which was left out.`;
    item.root.notes.push(noteOf('join_missing', name, { reason }));
  });
  const chosen = filtered(joined, map, at, env);
  const items =
    flat === undefined || conflict === undefined ? chosen : regrouped(chosen, name, map, flat, conflict, env);
  const over = overRows(conflict);
  const reads = Object.entries(listFields[name]).map(([field, kind]) => {
    const slot = newSlot(name, field, kind, valuesFor(field, config));
    const read = compileSlot(map.fields?.[field], slot, `${at}.fields.${field}`, env, over(slot));
    return [field as FieldOf<Name>, read] as const;
  });
  return {
    items,
    isSent: compileSent(pathsOf(name, map, flat !== undefined)),
    reads,
    id: compileItemId(name, map, at, flat, env),
    extra: compileExtra(map.extra, 'guests.extra', `${at}.extra`, env, over),
    byContent: flat !== undefined && flat[name] === undefined,
  };
}

/** Without `id`: the item's own `id`; for flat rows, what the rows of one item share. Guests have a canonical field for it. */
function compileItemId(
  name: ListName,
  { id }: ListMap<string>,
  at: string,
  flat: FlatConfig | undefined,
  env: Env,
): ListPart<string>['id'] {
  if (name === 'guests' || id === false) return undefined;
  if (id !== undefined) return compileFlatKey(id, `${at}.id`, env);
  if (flat === undefined) return env.asImplied(() => compileFlatKey('id', at, env));
  const key = flat[name]?.key;
  return key === undefined ? undefined : compileFlatKey(key, `shape.flat.${name}.key`, env);
}

function pathsOf(name: ListName, { from, join }: ListMap<string>, flat: boolean): readonly string[] {
  if (from === undefined) return flat || join !== undefined ? [] : [name];
  return typeof from === 'object' && 'first' in from ? from.first : asList(from);
}

/** Without `from`: the list of the same name; for flat rows the row itself; with a join the record itself. */
function compileOrigin(name: ListName, map: ListMap<string>, at: string, flat: boolean, env: Env): Each {
  const { from } = map;
  if (from === undefined) {
    const isRecord = flat || map.join !== undefined;
    const items = env.asImplied(() => compileFrom([isRecord ? '$item' : name], at, env));
    return isRecord ? wholeRow(items) : items;
  }
  if (typeof from === 'object' && 'first' in from) return firstWithItems(from.first, `${at}.from.first`, env);
  const items = compileFrom(asList(from), `${at}.from`, env);
  return from === '$item' || from === '$record' ? wholeRow(items) : items;
}

/** A row that is a list of values is one item, not one for each value. */
function wholeRow(items: Each): Each {
  return (scope) => (Array.isArray(scope.item) && scope.group === undefined ? [scope] : items(scope));
}

function firstWithItems(paths: readonly string[], at: string, env: Env): Each {
  const eaches = paths.flatMap((text, index) => {
    const path = env.path(text, `${at}[${index}]`);
    return path === undefined ? [] : [compileEach(path)];
  });
  return (scope) => {
    for (const each of eaches) {
      const items = each(scope);
      if (items.length > 0) return items;
    }
    return [];
  };
}

/** Flat rows: the items of all rows, merged by key. A row with an empty key has no such item. */
function regrouped(
  each: Each,
  name: ListName,
  map: ListMap<string>,
  flat: FlatConfig,
  conflict: Conflict,
  env: Env,
): Each {
  const own = flat[name];
  const key = own === undefined ? undefined : compileFlatKey(own.key, `shape.flat.${name}.key`, env);
  const rowIsItem = map.from === undefined;
  return (scope) => {
    // In the order in which they were sent.
    const rows = scope.group?.toSorted((one, other) => Number(one.key) - Number(other.key)) ?? [scope];
    const items = rows.flatMap((row) => each(row));
    if (key === undefined) return items;
    let nameless = 0;
    const named = rowIsItem ? items.filter((item) => key(item) !== undefined) : items;
    const groups = Map.groupBy(named, (item) => key(item) ?? `\u0000${nameless++}`);
    return [...groups.values()].map((group) => asOne(conflict.rank(group)));
  };
}
