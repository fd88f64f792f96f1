/**
 * The last answers of a pure function, so that a poll that brings the same guests again does not pay for them again. It changes
 * no result, only the cost of it. Bounded by two generations: once the young one holds half the limit it becomes the old one, and
 * the old one goes. An entry that is asked for moves to the young. Moving each entry to the end of one map at each hit, the textbook way, cost 0.11 µs a hit against 0.03. The price: only the last half of the limit is sure to be there.
 */
export class Recent<Value> {
  readonly #half: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(limit: number) {
    this.#half = Math.ceil(limit / 2);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
