import { pathReader } from '../json-path/read.ts';
import type { Json } from '../terms.ts';
import type { Leaf } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { wordsOf } from './words.ts';

/** The fields of a list of stays inside each record, as fields of the record itself: of the first stay, or over all of them. */
export function liftedLeaves(records: readonly Json[], list: string): Leaf[] {
  const lists = records.map((record) => {
    const value = pathReader(list)(record);
    return Array.isArray(value) ? value : [];
  });
  const first = lists.map((items) => items[0] ?? null);
  return leavesOf(first)
    .filter(({ kind, depth }) => kind === 'value' && depth <= 1)
    .map((leaf) => {
      const path = `${list}[0].${leaf.path}`;
      const inList = { from: list, value: leaf.path };
      return { ...leaf, path, source: path, around: [...wordsOf(list), ...leaf.around], depth: leaf.depth + 1, inList };
    });
}
