import type { Claimed, Lane } from './ports.ts';

/** Records of one brand that came together, leased to us until then. */
export interface Leased {
  readonly lane: Lane;
  readonly claims: readonly Claimed[];
  readonly leaseEndsAtMs: number;
  /** When they came, by the clock of the caller. */
  readonly sinceMs: number;
}

/** What is leased to a channel and waits for a call, and the room that is kept for what will be handed over to it. */
export class Waiting {
  readonly #brands = new Map<string, Leased[]>();
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
    this.#count += leased.claims.length;
    const brand = this.#brands.get(leased.lane.integration);
    if (brand) brand.push(leased);
    else this.#brands.set(leased.lane.integration, [leased]);
  }

  /** What one call can take of a brand that is ready for it, as it came; the brand goes to the end of the line. */
  take(most: number, isReady: (all: Leased) => boolean = () => true): Leased | undefined {
    for (const [name, parts] of this.#brands) {
      if (!isReady(joined(parts))) continue;
      const taken: Leased[] = [];
      let open = most;
      while (open > 0 && parts.length > 0) {
        const part = parts.shift() as Leased;
        taken.push({ ...part, claims: part.claims.slice(0, open) });
        if (part.claims.length > open) parts.unshift({ ...part, claims: part.claims.slice(open) });
        open -= part.claims.length;
      }
      this.#brands.delete(name);
      if (parts.length > 0) this.#brands.set(name, parts);
      const together = joined(taken);
      this.#count -= together.claims.length;
      return together;
    }
    return undefined;
  }
}

/** They have waited since the first came, and are ours until the first lease ends. */
function joined(parts: readonly Leased[]): Leased {
  const [first] = parts;
  if (first === undefined) throw new TypeError('nothing waits');
  if (parts.length === 1) return first;
  return {
    lane: first.lane,
    claims: parts.flatMap(({ claims }) => claims),
    leaseEndsAtMs: Math.min(...parts.map(({ leaseEndsAtMs }) => leaseEndsAtMs)),
    sinceMs: Math.min(...parts.map(({ sinceMs }) => sinceMs)),
  };
}
