/**
 * The top of a chart. A few values far above all others, as at a start, would flatten the rest to a line: the chart then ends above
 * the rest, and the cut values are marked.
 */
export function topOf(values: readonly (number | null | undefined)[]): number {
  const known = values.filter((value) => typeof value === 'number').toSorted((one, other) => one - other);
  const most = known.at(-1) ?? 0;
  const usual = known[Math.ceil(known.length * usualShare) - 1] ?? 0;
  return usual > 0 && most > usual * farAbove ? usual * roomAbove : most;
}
const usualShare = 0.9;
const farAbove = 4;
const roomAbove = 2;

/** A short pause between two values is drawn through (undefined), a longer one is a gap (null). */
export function withGaps(values: readonly (number | null)[], longest: number): (number | null | undefined)[] {
  const drawn: (number | null | undefined)[] = [...values];
  for (let from = 0; from < values.length; from++) {
    if (values[from] !== null) continue;
    let to = from;
    while (to < values.length && values[to] === null) to++;
    if (from > 0 && to < values.length && to - from <= longest) drawn.fill(undefined, from, to);
    from = to;
  }
  return drawn;
}
