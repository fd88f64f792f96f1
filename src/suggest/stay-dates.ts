import { dateFormat } from './formats.ts';
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
      const nights = first.values.map((value, index) =>
        daysBetween(plain(value ?? null), plain(second.values[index] ?? null)),
      );
      if (nights.every((count) => count !== undefined && count >= 1 && count <= 366)) return [first, second];
    }
  }
  return undefined;
}

/** Days between two dates of one format, with the year first or last. */
function daysBetween(from: string, to: string): number | undefined {
  const ms = (text: string): number => {
    const first = /^(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})/.exec(text);
    if (first) return Date.UTC(Number(first[1]), Number(first[2]) - 1, Number(first[3]));
    const last = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})/.exec(text);
    return last ? Date.UTC(Number(last[3]), Number(last[2]) - 1, Number(last[1])) : Number.NaN;
  };
  const days = (ms(to) - ms(from)) / 86_400_000;
  return Number.isNaN(days) ? undefined : days;
}
