import type { Json } from '../terms.ts';
import { dateFormat, daysOf } from './formats.ts';
import { parentOf } from './keys.ts';
import { plain } from './kinds.ts';
import { isInEveryItem, type Leaf, present } from './leaf.ts';

const nightNames = new Set(
  'nights,night,number of nights,number nights,num nights,night count,nights count,length of stay,length stay,los'.split(
    ',',
  ),
);

export function areNights(leaf: Leaf): boolean {
  return (
    leaf.kind === 'value' &&
    leaf.depth <= 1 &&
    nightNames.has(leaf.own.join(' ')) &&
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

/** The first two sibling dates that can be a stay: the second is 1 to 366 days after the first in every record. */
export function stayIn(
  leaves: readonly Leaf[],
  start: Leaf | undefined,
  end: Leaf | undefined,
): [Leaf, Leaf] | undefined {
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
