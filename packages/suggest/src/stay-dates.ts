import type { Json } from '../../../src/terms.ts';
import { dateFormat, daysOf } from './formats.ts';
import { parentOf } from './keys.ts';
import { plain } from './kinds.ts';
import { isInEveryItem, type Leaf, present } from './leaf.ts';
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

/** Whether an end is the last of a list of consecutive days in every item, or of the rooms that have such a list. */
export function isLastNight({ kind, own, values }: Leaf, leaves: readonly Leaf[]): boolean {
  if (kind !== 'value' || !own.some((word) => ['end', 'to', 'until', 'till', 'last'].includes(word))) return false;
  const lists = leaves.filter((leaf) => leaf.kind === 'many' && (leaf.isLastNight || leaf.own.join(' ') === 'date'));
  return lists.some((leaf) => {
    const nights = leaf.values.map((list) => daysOf((list ?? []) as Json[]));
    const isRun = (days: readonly number[]) => days.every((day, at) => at === 0 || day - 1 === days[at - 1]);
    const isNightly = nights.every(isRun) && nights.some((days) => days.length > 1);
    const lasts = daysOf(values);
    return (leaf.isLastNight || isNightly) && nights.every((days, at) => Math.max(...days) === lasts[at]);
  });
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
