/** A backlog as it was seen at a time. */
export interface Seen {
  readonly atMs: number;
  readonly waiting: number;
}

const rememberMs = 60_000;
const leastMs = 8_000;

export const seenLately = (seen: readonly Seen[], now: Seen): readonly Seen[] => [
  ...seen.filter(({ atMs }) => now.atMs - atMs <= rememberMs && atMs < now.atMs),
  now,
];

/** How fast a backlog has fallen in the last minute, and when it is over at this speed; undefined while that is not known. */
export function draining(seen: readonly Seen[]): { readonly perSecond: number; readonly leftMs: number } | undefined {
  const [first, last] = [seen[0], seen.at(-1)];
  if (first === undefined || last === undefined || last.atMs - first.atMs < leastMs) return undefined;
  const perSecond = (first.waiting - last.waiting) / ((last.atMs - first.atMs) / 1_000);
  return perSecond > 0 && last.waiting > 0 ? { perSecond, leftMs: (last.waiting / perSecond) * 1_000 } : undefined;
}
