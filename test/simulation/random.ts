/** A seeded source of chance (mulberry32): the same seed makes the same choices. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but not including, 1. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };

  between(from: number, to: number): number {
    return from + (to - from) * this.next();
  }

  /** A whole number, both ends included. */
  whole(from: number, to: number): number {
    return from + Math.floor((to - from + 1) * this.next());
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Of>(items: readonly Of[]): Of {
    const item = items[Math.floor(items.length * this.next())];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }
}
