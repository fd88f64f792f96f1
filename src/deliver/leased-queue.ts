import { type Lease, shortest } from './lease.ts';
import type { Claimed, Lane } from './ports.ts';

/** Records of one brand that were leased together. */
export interface Leased {
  readonly lane: Lane;
  readonly claims: readonly Claimed[];
  readonly lease: Pick<Lease, 'leftMs'>;
  /** When they were queued, in monotonic time. */
  readonly sinceMs: number;
}

/** Records leased to a channel that wait for a call, and the capacity reserved for direct leases. */
export class LeasedQueue {
  readonly #brands = new Map<string, Leased[]>();
  #count = 0;
  #reserved = 0;

  get count(): number {
    return this.#count;
  }

  /** Queued records and reserved capacity. */
  get size(): number {
    return this.#count + this.#reserved;
  }

  reserve(count: number): void {
    this.#reserved += count;
  }

  release(count: number): void {
    this.#reserved -= count;
  }

  add(leased: Leased): void {
    this.#count += leased.claims.length;
    const brand = this.#brands.get(leased.lane.integration);
    if (brand) brand.push(leased);
    else this.#brands.set(leased.lane.integration, [leased]);
  }

  /** Up to `most` records, in order, of the first brand that is ready; the brand moves to the end of the queue. */
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

/** Queued since the first one; the lease that ends first counts. */
function joined(parts: readonly Leased[]): Leased {
  const [first] = parts;
  if (first === undefined) throw new TypeError('the queue of a brand is empty');
  if (parts.length === 1) return first;
  return {
    lane: first.lane,
    claims: parts.flatMap(({ claims }) => claims),
    lease: shortest(parts.map(({ lease }) => lease)),
    sinceMs: Math.min(...parts.map(({ sinceMs }) => sinceMs)),
  };
}
