import type { Json, JsonObject } from '../terms.ts';
import type { FlatShape } from './document.ts';
import { plain } from './kinds.ts';
import { isUnique, type Leaf, present } from './leaf.ts';
import type { Match } from './match.ts';
import type { Section } from './section.ts';

const masterWords = new Set(['master', 'parent', 'main', 'lead', 'group']);

export interface MasterRows extends FlatShape {
  /** The id of the whole: the master's, else the row's own. */
  readonly id: Json;
  /** Whether the rows of a group have different values, so that the whole has their sum. */
  readonly isSummed: (leaf: Leaf) => boolean;
}

/** One row per room, where the rows of a group name the id of their first row: one reservation in several rows. */
export function findMasterRows(
  leaves: readonly Leaf[],
  id: Match | undefined,
  rooms: Section | undefined,
  charges: readonly Section[],
): MasterRows | undefined {
  if (id === undefined) return undefined;
  const ids = id.leaf.values.map((value) => plain(value ?? null));
  const known = new Set(ids);
  const master = leaves.find(
    (leaf) =>
      leaf !== id.leaf &&
      leaf.kind === 'value' &&
      leaf.depth === 0 &&
      leaf.own.some((word) => masterWords.has(word)) &&
      leaf.values.some((value, index) => value !== undefined && plain(value) !== ids[index] && known.has(plain(value))),
  );
  if (master === undefined) return undefined;
  const empty = [...new Set(present(master).filter((value) => /^0+$/.test(plain(value))))];
  const groupOf = (index: number): string => {
    const value = master.values[index];
    return value === undefined || empty.includes(value) ? (ids[index] ?? '') : plain(value);
  };
  const first: Json = empty.length === 0 ? master.path : { path: master.path, empty };
  const key = { first: [first, id.leaf.path] };
  const line = charges.length === 1 ? lineKey(charges[0]) : undefined;
  return {
    id: key,
    shape: {
      key,
      ...(rooms?.map.from === '$item' && { rooms: { key: id.leaf.path } }),
      ...(line !== undefined && { charges: { key: line } }),
    },
    reason: `${master.path} names the ${id.leaf.path} of another row: rows of one reservation`,
    isSummed: ({ values }) =>
      values.some((value, at) => {
        const others = values.filter((other, index) => other !== undefined && groupOf(index) === groupOf(at));
        return value !== undefined && others.some((other) => plain(other ?? null) !== plain(value));
      }),
  };
}

/** An id that is unique per line; without one, equal lines would be merged. */
function lineKey(section: Section | undefined): string | undefined {
  return section?.leaves?.find(
    (leaf) => leaf.kind === 'value' && leaf.depth === 0 && leaf.own.includes('id') && isUnique(leaf),
  )?.path;
}

/** The mapping of a row, turned into the mapping of the whole reservation. */
export function asWhole(map: JsonObject, matches: ReadonlyMap<string, Match>, rows: MasterRows): JsonObject {
  const total = matches.get('total_amount')?.leaf;
  const sum = total !== undefined && typeof map.total_amount === 'string' && rows.isSummed(total);
  return { ...map, id: rows.id, ...(sum && { total_amount: { sum: `$rows.*.${total.path}` } }) };
}
