import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { areIds, child, emptied, keysOf } from './leaf.ts';
import { wordsOf } from './words.ts';

/** An object or list inside the records that may contain guests, rooms or charges. */
export interface Container {
  /** As a mapping's `from`. */
  readonly from: string;
  readonly words: readonly string[];
  readonly items: readonly Json[];
  /** Index of the record of each item. */
  readonly owners: readonly number[];
  /** dates: an object from dates to amounts, whose items are the amounts. */
  readonly kind: 'object' | 'list' | 'dates';
  readonly depth: number;
  /** The enclosing lists, nearest last. */
  readonly inside: readonly string[];
}

/** Whether a record can have several items: of a list, or one in each item of another list. */
export const isListed = (container: Container | undefined): boolean | undefined =>
  container && (container.kind === 'list' || container.inside.length > 0);

interface Group extends Omit<Container, 'from' | 'kind'> {
  readonly path: string;
}

const deepest = 4;

export function containersOf(records: readonly Json[]): Container[] {
  const containers: Container[] = [];
  const owners = records.map((_, index) => index);
  descend({ path: '', words: [], items: records, owners, depth: 0, inside: [] }, containers);
  return containers;
}

function descend(group: Group, containers: Container[]): void {
  if (group.depth > deepest) return;
  const keys = [...new Set(group.items.filter(isObject).flatMap(keysOf))];
  for (const key of keys) {
    const members = membersOf(group, key);
    const path = child(group.path, key);
    const words = [...group.words, ...wordsOf(key)];
    const step = { words, depth: group.depth + 1, inside: group.inside };
    if (members.some(({ item }) => Array.isArray(item))) {
      const all = members.flatMap(({ item: list, owner }) =>
        Array.isArray(list) ? list.map((item) => ({ item, owner })) : [],
      );
      add({ ...step, path, ...columns(all) }, 'list', containers, {
        path: `${path}[]`,
        inside: [...group.inside, path],
      });
    } else {
      const objects = members.flatMap(({ item, owner }) => (isObject(item) ? [{ item, owner }] : []));
      if (objects.length > 0) addObjects({ ...step, path }, objects, containers);
    }
  }
}

interface Member<Of> {
  readonly item: Of;
  readonly owner: number;
}

function membersOf(group: Group, key: string): Member<Json>[] {
  return group.items.flatMap((item, index) => {
    const value = isObject(item) ? emptied(item[key]) : undefined;
    return value === undefined ? [] : [{ item: value, owner: group.owners[index] ?? 0 }];
  });
}

/** Objects with fields, or objects whose names are ids or dates and whose values are the items. */
function addObjects(
  step: Omit<Group, 'items' | 'owners'>,
  objects: readonly Member<JsonObject>[],
  containers: Container[],
): void {
  const names = objects.flatMap(({ item }) => keysOf(item));
  if (!areIds(names)) {
    add({ ...step, ...columns(objects) }, 'object', containers, step);
    return;
  }
  const all = objects.flatMap(({ item: object, owner }) => Object.values(object).map((item) => ({ item, owner })));
  const path = `${step.path}[]`;
  if (all.every(({ item }) => isObject(item))) {
    add({ ...step, path, ...columns(all) }, 'list', containers, { path, inside: [...step.inside, path] });
  } else if (names.every((name) => /^\d{4}-\d{2}-\d{2}$/.test(name)) && all.every(({ item }) => isAmount(item))) {
    containers.push({ ...step, from: path, ...columns(all), kind: 'dates' });
  }
}

const isAmount = (value: Json) =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value));

function columns(all: readonly Member<Json>[]) {
  return { items: all.map(({ item }) => item), owners: all.map(({ owner }) => owner) };
}

function add(
  group: Group,
  kind: 'object' | 'list',
  containers: Container[],
  below: Pick<Group, 'path' | 'inside'>,
): void {
  if (!group.items.some(isObject)) return;
  const { path, words, items, owners, depth, inside } = group;
  containers.push({ from: path, words, items, owners, kind, depth, inside });
  descend({ ...group, ...below }, containers);
}
