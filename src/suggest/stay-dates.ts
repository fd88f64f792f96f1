import { dateFormat, daysOf } from './formats.ts';
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

/** The first two sibling dates that can be a stay: the second is 1 to 366 days after the first in every record. */
export function stayIn(
  leaves: readonly Leaf[],
  start: Leaf | undefined,
  end: Leaf | undefined,
): [Leaf, Leaf] | undefined {
  const dates = leaves.filter((leaf) => isInEveryItem(leaf) && dateFormat(present(leaf))?.share === 1);
  const parent = ({ path }: Leaf) => path.slice(0, Math.max(0, path.lastIndexOf('.')));
  for (const first of start ? [start] : dates) {
    for (const second of end ? [end] : dates) {
      if (first === second || parent(first) !== parent(second)) continue;
      const [from, to] = [daysOf(first.values), daysOf(second.values)];
      const nights = from.map((day, index) => (to[index] ?? Number.NaN) - (day ?? Number.NaN));
      if (nights.every((count) => count >= 1 && count <= 366)) return [first, second];
    }
  }
  return undefined;
}
