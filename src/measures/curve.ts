import type { Money, Sold } from './facts.ts';

/** What a day added to the books of a night; the day is null where days are not told apart. */
export type Move = readonly [
  night: string,
  day: string | null,
  currency: string,
  rooms: number,
  revenue: number | null,
];

/** What was on the books of each night on each day. */
export class Curve {
  readonly #byNight: ReadonlyMap<string, readonly Move[]>;

  constructor(moves: readonly Move[]) {
    this.#byNight = Map.groupBy(moves, ([night]) => night);
  }

  /** As of the evening of `day`; without one, as of now. */
  on(night: string, day?: string): Sold {
    const revenue: Record<string, number> = {};
    let rooms = 0;
    for (const [, at, currency, more, amount] of this.#byNight.get(night) ?? []) {
      if (day !== undefined && at !== null && at > day) continue;
      rooms += more;
      if (amount !== null) revenue[currency] = cents((revenue[currency] ?? 0) + amount);
    }
    return { rooms, revenue };
  }
}

/** Sums of doubles, without the digits that no currency has. */
export const cents = (amount: number): number => Math.round(amount * 1_000) / 1_000;

export function added(...amounts: readonly Money[]): Money {
  const sum: Record<string, number> = {};
  for (const [currency, amount] of amounts.flatMap(Object.entries<number>))
    sum[currency] = cents((sum[currency] ?? 0) + amount);
  return sum;
}
