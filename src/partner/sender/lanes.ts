/**
 * Work in order per key, and at most so much at once over all keys. A piece of work holds its lane from start to end, but a
 * place only while it asks for one: a letter that waits for its retry keeps its own reservation waiting and nobody else.
 */
export class Lanes {
  readonly #tails = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Runs `work` once all earlier work of the same key has ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#tails.set(key, ended);
    try {
      await before;
      return await work();
    } finally {
      if (this.#tails.get(key) === ended) this.#tails.delete(key);
      end();
    }
  }

  /** Runs `task` in one of the places, first come, first served. */
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
