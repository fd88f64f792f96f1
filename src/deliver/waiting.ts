import type { Claimed, Lane } from './ports.ts';

/** Records of one brand, leased to us until then. */
export interface Leased {
  readonly lane: Lane;
  readonly claims: readonly Claimed[];
  readonly leaseEndsAtMs: number;
  /** When the first of them came, by the clock of the caller. */
  readonly sinceMs: number;
}

/** What is leased to a channel and waits for a call, and the room that is kept for what will be handed over to it. */
export class Waiting {
  readonly #waiting = new Map<string, Leased>();
  #count = 0;
  #kept = 0;

  get count(): number {
    return this.#count;
  }

  /** With the room that is kept. */
  get size(): number {
    return this.#count + this.#kept;
  }

  keep(count: number): void {
    this.#kept += count;
  }

  free(count: number): void {
    this.#kept -= count;
  }

  add(leased: Leased): void {
    const before = this.#waiting.get(leased.lane.integration);
    this.#count += leased.claims.length;
    this.#waiting.set(
      leased.lane.integration,
      // Together they begin and end with the first.
      before ? { ...before, claims: [...before.claims, ...leased.claims] } : leased,
    );
  }

  /** What one call can take of a brand that is ready for it; the brand goes to the end of the line. */
  take(most: number, isReady: (leased: Leased) => boolean = () => true): Leased | undefined {
    for (const [name, leased] of this.#waiting) {
      if (!isReady(leased)) continue;
      const { claims } = leased;
      this.#waiting.delete(name);
      const rest = claims.slice(most);
      if (rest.length > 0) this.#waiting.set(name, { ...leased, claims: rest });
      this.#count -= claims.length - rest.length;
      return { ...leased, claims: claims.slice(0, most) };
    }
    return undefined;
  }
}
