/**
 * Runs work in order per key, with limited concurrency over all keys. A task holds its lane from start to end, but a
 * slot only while it uses one: an event that waits for its retry delays its own reservation and no other.
 */
export class Lanes {
  readonly #tails = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Runs `work` after all earlier work of the same key. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#tails.set(key, ended);
    try {
      await before;
      return await work();
    } finally {
      if (this.#tails.get(key) === ended) this.#tails.delete(key);
      end();
    }
  }

  /** Runs `task` in one of the slots, first come, first served. */
  async inPlace<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
