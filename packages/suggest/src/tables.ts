import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import type { Container } from './containers.ts';
import { child, isUnique, keysOf, type Leaf, parentOf, plain, present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { wordsOf } from './words.ts';

/** A list next to the reservations that they refer to by id, or that refers to them. */
export interface Table {
  /** As a mapping path: $body.Customers. */
  readonly path: string;
  readonly words: readonly string[];
  readonly rows: readonly Json[];
  readonly leaves: readonly Leaf[];
  /** The id of a row. */
  readonly id: Leaf | undefined;
  /** The kind of the rows, if one list has objects of several kinds, as in JSON:API. */
  readonly kind?: { readonly key: string; readonly value: string };
}

export function tablesOf(envelope: JsonObject, rootPath: string | undefined, path = '$body', depth = 0): Table[] {
  if (depth > 2) return [];
  return keysOf(envelope).flatMap((key) => {
    const value = envelope[key];
    const at = child(path, key);
    if (rootPath !== undefined && at === `$body.${rootPath}`) return [];
    if (isObject(value)) return tablesOf(value, rootPath, at, depth + 1);
    if (!Array.isArray(value) || !value.some(isObject)) return [];
    return kindsIn(value) ?? [tableOf(value, wordsOf(key))];

    function kindsIn(rows: readonly Json[]): Table[] | undefined {
      const kinds = new Set(rows.map((row) => (isObject(row) ? row.type : undefined)));
      if (kinds.size < 2 || kinds.size > 20 || ![...kinds].every((kind) => typeof kind === 'string')) return undefined;
      return [...(kinds as Set<string>)].map((kind) => ({
        ...tableOf(
          rows.filter((row) => isObject(row) && row.type === kind),
          wordsOf(kind),
        ),
        kind: { key: 'type', value: kind },
      }));
    }

    function tableOf(rows: readonly Json[], words: readonly string[]): Table {
      const leaves = leavesOf(rows);
      const id = leaves.find(
        (leaf) => ['id', 'key', 'code', 'uid'].includes(leaf.own.join(' ')) && leaf.depth === 0 && isUnique(leaf),
      );
      return { path: at, words, rows, leaves, id };
    }
  });
}

/** Whether the values of a leaf are ids of the table's rows; `siblings` may name the kind of object beside the id. */
export function refersTo(leaf: Leaf, table: Table, siblings: readonly Leaf[] = []): boolean {
  if (table.id === undefined) return false;
  const { kind } = table;
  if (kind !== undefined) {
    const beside = child(parentOf(leaf.path), kind.key);
    const kindLeaf = siblings.find(({ path }) => path === beside);
    if (kindLeaf !== undefined) return leaf !== kindLeaf && present(kindLeaf).every((value) => value === kind.value);
  }
  const ids = new Set(present(table.id).map(plain));
  const values = present(leaf)
    .flat()
    .filter((value) => typeof value !== 'object')
    .map(plain);
  const known = values.filter((value) => ids.has(value)).length;
  // Small numbers and short codes match by chance.
  return (
    known > 0 &&
    known >= values.length * 0.8 &&
    values.every((value) => value.length >= 3 || !/^\d+$/.test(value) || ids.size > 2)
  );
}

/** The leaf in which the table's rows refer to reservations. */
export function refersBack(table: Table, ids: ReadonlySet<string>): Leaf | undefined {
  return table.leaves.find((leaf) => {
    if (leaf === table.id || leaf.kind !== 'value') return false;
    const values = present(leaf).map(plain);
    return values.length > 0 && values.every((value) => ids.has(value));
  });
}

const names = ['code', 'short name', 'short names', 'external identifier', 'name', 'names', 'title', 'label'];

/** The code of a row, else its name. */
function nameLeaf(table: Table): Leaf | undefined {
  for (const name of names) {
    const named = table.leaves.find(({ own, around, values, kind }) => {
      const words = own.join(' ') === name || around.join(' ') === name;
      return words && kind === 'value' && values.some((value) => typeof value === 'string');
    });
    if (named) return named;
  }
  return undefined;
}

/** Replaces each id that refers to a table by the row's code or name: RateId becomes the rate's code. `words`: only fields with such a name. */
export function withLookups(leaves: readonly Leaf[], tables: readonly Table[], words?: readonly string[]): Leaf[] {
  const kinds = new Set(tables.flatMap(({ kind }) => kind?.value ?? []));
  // The kind of object that an id belongs to is not a field of the reservation.
  const isKind = (leaf: Leaf) => kinds.size > 0 && present(leaf).every((value) => kinds.has(plain(value)));
  return leaves
    .filter((leaf) => !isKind(leaf))
    .map((leaf) => {
      if (words !== undefined && !leaf.own.some((word) => words.includes(word))) return leaf;
      const table = leaf.kind === 'value' ? tables.find((one) => refersTo(leaf, one, leaves)) : undefined;
      const name = table && nameLeaf(table);
      if (table?.id === undefined || name === undefined) return leaf;
      const { id } = table;
      const byId = new Map(id.values.map((value, index) => [plain(value ?? null), name.values[index]]));
      const own = leaf.own.filter((word) => word !== 'id');
      const source: Json =
        table.kind === undefined
          ? { lookup: { in: table.path, key: id.path, by: leaf.path, value: name.path } }
          : {
              pick: {
                from: leaf.path,
                join: { in: table.path, key: id.path, by: '$item' },
                where: { [table.kind.key]: table.kind.value },
                value: name.path,
              },
            };
      const values = leaf.values.map((value) => (value === undefined ? undefined : byId.get(plain(value))));
      return { ...leaf, path: `${leaf.path} → ${table.path}.${name.path}`, source, own: [...own, 'code'], values };
    });
}

/** Counts by age category, if a table defines the categories. */
export function countPersons(containers: readonly Container[], tables: readonly Table[]): JsonObject {
  for (const { items, from, kind, inside } of containers) {
    if (kind !== 'list' || inside.length > 0) continue;
    const leaves = leavesOf(items);
    const count = leaves.find(
      (leaf) => leaf.own.includes('count') && present(leaf).every((value) => typeof value === 'number'),
    );
    for (const leaf of leaves) {
      const table = tables.find((one) => refersTo(leaf, one));
      const group = table?.leaves.find((one) => present(one).some((value) => /^adult/i.test(plain(value))));
      if (count === undefined || table?.id === undefined || group === undefined) continue;
      const spellings = [...new Set(present(group).map(plain))];
      const adults = spellings.filter((value) => /^adult/i.test(value));
      const others = spellings.filter((value) => !/^adult/i.test(value));
      const join = { in: table.path, key: table.id.path, by: leaf.path };
      const counted = (of: string[]): Json => ({
        sum: { from, join, where: { [group.path]: of }, value: `$parent.${count.path}` },
      });
      const none = { const: 0, when: { [table.path]: { exists: true } } };
      return { adults: counted(adults), ...(others.length > 0 && { children: { first: [counted(others), none] } }) };
    }
  }
  return {};
}
