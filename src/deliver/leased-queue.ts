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

  /**
   * Up to `most` records, in order, of the first brand that is ready; the brand moves to the end of the queue. `isReady` sees only these:
   * joining all that is queued for each call of one record took 4 µs more with 200 queued (2 cores arm64).
   */
  take(most: number, isReady: (next: Leased) => boolean = () => true): Leased | undefined {
    for (const [name, parts] of this.#brands) {
      const { taken, left } = cut(parts, most);
      const next = joined(taken);
      if (!isReady(next)) continue;
      this.#brands.delete(name);
      if (left.length > 0) this.#brands.set(name, left);
      this.#count -= next.claims.length;
      return next;
    }
    return undefined;
  }
}

function cut(parts: readonly Leased[], most: number): { taken: Leased[]; left: Leased[] } {
  const taken: Leased[] = [];
  const left: Leased[] = [];
  let open = most;
  for (const part of parts) {
    const { claims } = part;
    if (open > 0) taken.push(claims.length <= open ? part : { ...part, claims: claims.slice(0, open) });
    if (claims.length > open) left.push(open === 0 ? part : { ...part, claims: claims.slice(open) });
    open = Math.max(0, open - claims.length);
  }
  return { taken, left };
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
