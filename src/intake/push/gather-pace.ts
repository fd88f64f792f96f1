/** How long a batch gathers, from the recent request rate: 0 ms up to 500 a second, 10 ms from 1,500 on. */
export class GatherPace {
  #perSecond = 0;
  #begunAtMs = 0;

  begins(requests: number, atMs: number): void {
    const elapsedMs = Math.max(1, atMs - this.#begunAtMs);
    // An exponential average over 100 ms.
    const weight = 1 - Math.exp(-elapsedMs / 100);
    this.#perSecond += ((1000 * requests) / elapsedMs - this.#perSecond) * weight;
    this.#begunAtMs = atMs;
  }

  /** Measured from the start of the last batch. */
  gatherMs(atMs: number): number {
    const ms = Math.min(10, Math.max(0, (this.#perSecond - 500) / 100));
    return Math.max(0, this.#begunAtMs + ms - atMs);
  }
}
