import type { Json } from '../../../src/terms.ts';
import { type Container, containersOf } from './containers.ts';
import { dateFormat, daysOf } from './formats.ts';
import { isInEveryItem, type Leaf, parentOf, plain, present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { type Match, matchOf } from './match.ts';

const nightNames = /^(?:nights?|num(?:ber)?(?: of)? nights|nights? count|length(?: of)? stay|los)$/;

export function areNights(leaf: Leaf): boolean {
  return (
    leaf.kind === 'value' &&
    leaf.depth <= 1 &&
    nightNames.test(leaf.own.join(' ')) &&
    isInEveryItem(leaf) &&
    present(leaf).every((value) => /^\d{1,3}$/.test(plain(value)))
  );
}

/** Gives the fields of a stay that have no leaf the dates that can be one. */
export function putStay(matches: Map<string, Match>, leaves: readonly Leaf[], fields: readonly [string, string]): void {
  const [start, end] = fields.map((field) => matches.get(field)?.leaf);
  const stay = stayIn(leaves, start, end);
  const reason = 'two dates of which the second is never before the first';
  for (const [at, field] of fields.entries())
    if (stay?.[at] !== undefined && !matches.has(field)) matches.set(field, matchOf(field, stay[at], 0.55, reason));
}

/** The first two sibling dates that can be a stay: the second is 1 to 366 days after the first in every record. */
function stayIn(leaves: readonly Leaf[], start: Leaf | undefined, end: Leaf | undefined): [Leaf, Leaf] | undefined {
  const dates = leaves.filter((leaf) => isInEveryItem(leaf) && dateFormat(present(leaf))?.share === 1);
  for (const first of start ? [start] : dates) {
    for (const second of end ? [end] : dates) {
      if (first === second || parentOf(first.path) !== parentOf(second.path)) continue;
      const [from, to] = [daysOf(first.values), daysOf(second.values)];
      const nights = from.map((day, index) => (to[index] ?? Number.NaN) - day);
      if (nights.every((count) => count >= 1 && count <= 366)) return [first, second];
    }
  }
  return undefined;
}

/** The fields of the first night of each room. */
export function nightLeaves({ items }: Container): Leaf[] {
  return containersOf(items)
    .filter((one) => one.kind === 'list' && one.inside.length === 0 && isNightly(one))
    .flatMap((nights) => firstLeaves(nights, items.length));
}

const nightDates = new Set(['effective date', 'date', 'night', 'day', 'service date', 'stay date', 'business date']);

/** A list with ascending dates, one per item: nights of one room, not rooms. Those of the next room may begin again. */
export function isNightly({ items, owners, inside }: Container): boolean {
  const date = leavesOf(items).find(
    ({ own, kind, depth }) => kind === 'value' && depth === 0 && nightDates.has(own.join(' ')),
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
