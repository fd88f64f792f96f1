import type { Json } from '../../../src/terms.ts';
import { type Container, containersOf } from './containers.ts';
import { daysOf } from './formats.ts';
import type { Leaf } from './leaf.ts';
import { leavesOf } from './leaves.ts';

/** The fields of the first night of each room. */
export function nightLeaves({ items }: Container): Leaf[] {
  return containersOf(items)
    .filter((one) => one.kind === 'list' && one.inside.length === 0 && isNightly(one))
    .flatMap((nights) => firstLeaves(nights, items.length));
}

const nightNames = new Set(['effective date', 'date', 'night', 'day', 'service date', 'stay date', 'business date']);

/** A list with ascending dates, one per item: nights of one room, not rooms. Those of the next room may begin again. */
export function isNightly({ items, owners, inside }: Container): boolean {
  const date = leavesOf(items).find(
    ({ own, kind, depth }) => kind === 'value' && depth === 0 && nightNames.has(own.join(' ')),
  );
  if (date === undefined || owners.length === new Set(owners).size) return false;
  const steps = daysOf(date.values).map((day, at, days) =>
    at === 0 || owners[at] !== owners[at - 1] ? 1 : day - Number(days[at - 1]),
  );
  return steps.every((step) => step > 0 || (step < 0 && inside.length > 0));
}

/** The fields of a list of stays inside each record, as fields of the record itself: of the first stay, or over all of them. */
export const liftedLeaves = (records: readonly Json[], list: string): Leaf[] =>
  containersOf(records)
    .filter(({ from }) => from === list)
    .flatMap((stays) => firstLeaves(stays, records.length))
    .filter(({ depth }) => depth <= 2)
    .map((leaf) => ({ ...leaf, inList: { from: list, value: leaf.path.slice(list.length + '[0].'.length) } }));

/** The fields of the first item of a list, such as the first night, as fields of the record. */
export function firstLeaves({ items, owners, from, words }: Container, records: number): Leaf[] {
  return leavesOf(items)
    .filter(({ kind }) => kind === 'value')
    .map((leaf) => {
      const path = `${from}[0].${leaf.path}`;
      const values = Array.from({ length: records }, (_, record) => leaf.values[owners.indexOf(record)]);
      return { ...leaf, path, source: path, around: [...words, ...leaf.around], values, depth: leaf.depth + 1 };
    });
}
