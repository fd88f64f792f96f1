import { chunksOf } from '../../kit/chunks.ts';
import type { Clock, Timers } from '../../kit/clock.ts';
import type { Claimed, DeliverPorts, DeliveryStore, DestinationConfig, DueLane, Lane, LaneKey } from './ports.ts';
import { needsDelivered } from './select.ts';

/** The lane of a brand to this destination, if it may send now. */
export type OpenLane = (brand: string) => Lane | undefined;

/** The records of one call: of one brand, leased together. */
export interface Leased {
  readonly lane: Lane;
  readonly claims: readonly Claimed[];
  readonly lease: Pick<Lease, 'leftMs'>;
}

/**
 * Claims due records of one destination, within the rate, not while paused. Brands with due work are served in turn: a brand with a
 * million changes gets its share of one claim, then goes to the end of the queue (bench/mechanisms.md, 4).
 */
export class Claiming {
  readonly #store: DeliveryStore;
  readonly #config: DestinationConfig;
  readonly #clock: Clock & Timers;
  readonly #leaseMs: number;
  readonly #floor: DueFloor;
  readonly #gatherMs: number;
  readonly #laneOf: OpenLane;
  /** Brands with due work. A set keeps the order in which they were added. */
  readonly #brands = new Set<string>();
  #waitUntilMs = 0;
  #pausedUntilMs = 0;

  constructor(
    { store, clock }: Pick<DeliverPorts, 'store' | 'clock'>,
    config: DestinationConfig,
    leaseMs: number,
    { floor, laneOf }: { readonly floor: DueFloor; readonly laneOf: OpenLane },
  ) {
    this.#floor = floor;
    this.#laneOf = laneOf;
    this.#store = store;
    this.#config = config;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#gatherMs = gatherMsOf(config.batch);
  }

  get hasBrands(): boolean {
    return this.#brands.size > 0;
  }

  get pausedMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.uptimeMs());
  }

  /** How long the next claim should wait, so that it finds more records. */
  get waitMs(): number {
    return Math.max(this.pausedMs, this.#waitUntilMs - this.#clock.uptimeMs());
  }

  /** A brand that is already in the queue keeps its place. */
  add(brands: readonly string[]): void {
    for (const brand of brands) this.#brands.add(brand);
  }

  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.uptimeMs() + ms);
  }

  /** Claims records for up to `most` calls, shared among the next brands. Returns them call by call. */
  async claim(most: number): Promise<readonly Leased[]> {
    const { name, batch, rate } = this.#config;
    const calls = await this.#takeBudget(most);
    if (calls === 0) return [];
    const brands = [...this.#brands].slice(0, calls);
    for (const brand of brands) this.#brands.delete(brand);
    const mostEach = Math.floor(calls / brands.length) * batch;
    const startedAtMs = this.#clock.uptimeMs();
    const sinceMs = this.#floor.sinceMs(brands.map((integration) => ({ integration, destination: name })));
    const leased = await this.#lease(brands, mostEach, { sinceMs }).catch((error: unknown) => {
      this.add(brands);
      throw error;
    });
    const counts = new Map<string, number>();
    for (const { lane, claims } of leased)
      counts.set(lane.integration, (counts.get(lane.integration) ?? 0) + claims.length);
    const full = brands.filter((brand) => counts.get(brand) === mostEach);
    this.add(full);
    if (full.length === 0) this.#waitUntilMs = startedAtMs + this.#gatherMs;
    if (rate && leased.length < calls) await this.#store.takeBudget(name, leased.length - calls, rate);
    return leased;
  }

  /** Claims one record for a probe, if this node is the one to send it. */
  async probe(brands: readonly string[]): Promise<readonly Leased[]> {
    const { name } = this.#config;
    if (!(await this.#store.takeProbe(name, this.#leaseMs))) return [];
    for (const brand of brands) {
      const leased = await this.#lease([brand], 1, { isProbe: true });
      if (leased.length > 0) return leased;
    }
    await this.#store.releaseProbe(name);
    return [];
  }

  /** Leaves out brands whose lanes have closed since they were added. A changed destination has another channel, which serves its lanes. */
  async #lease(
    brands: readonly string[],
    mostEach: number,
    how: { readonly isProbe?: boolean; readonly sinceMs?: number | undefined },
  ): Promise<Leased[]> {
    const { name, revision, batch, selection } = this.#config;
    const lanes = brands
      .flatMap((brand) => this.#laneOf(brand) ?? [])
      .filter((lane) => lane.destination.revision === revision);
    if (lanes.length === 0) return [];
    const lease = new Lease(this.#clock, this.#leaseMs);
    const claimed = await this.#store.claim(
      name,
      lanes.map(({ integration }) => integration),
      mostEach,
      this.#leaseMs,
      { withDelivered: needsDelivered(selection), withMentions: selection.comparesConsent === true, ...how },
    );
    const byBrand = Map.groupBy(claimed, ({ integration }) => integration);
    return lanes.flatMap((lane) =>
      chunksOf(byBrand.get(lane.integration) ?? [], batch).map((claims) => ({ lane, claims, lease })),
    );
  }

  /** How many calls the rate allows now; with none left, claiming pauses until the next one. */
  async #takeBudget(wanted: number): Promise<number> {
    const { name, rate } = this.#config;
    if (!rate) return wanted;
    const { granted, waitMs } = await this.#store.takeBudget(name, wanted, rate);
    if (granted === 0) this.pause(waitMs);
    return granted;
  }
}

/**
 * The time between two claims that find little: a quarter of a millisecond for each record that a call can take. Under load a batch
 * destination then gets fuller batches, and a bucket fewer objects (bench/mechanisms.md, 9).
 */
const gatherMsOf = (batch: number): number => Math.min(batch / 4, 250);

/**
 * How long a lease still lasts, as seen from this node. It starts before the statement is sent, so it never outlasts the
 * database's own. Of two clocks the one that reaches the end first decides: the wall clock may be set back, and monotonic time may
 * stop while the machine is suspended.
 */
export class Lease {
  readonly #clock: Clock & Timers;
  readonly #endsAtMs: number;
  readonly #endsAtUptimeMs: number;

  constructor(clock: Clock & Timers, lengthMs: number) {
    this.#clock = clock;
    this.#endsAtMs = clock.now() + lengthMs;
    this.#endsAtUptimeMs = clock.uptimeMs() + lengthMs;
  }

  get leftMs(): number {
    return Math.min(this.#endsAtMs - this.#clock.now(), this.#endsAtUptimeMs - this.#clock.uptimeMs());
  }
}

/** Transactions that queue records are shorter than this; the rare longer ones are found by the next full scan. */
const marginMs = 10_000;
const standardFullScanMs = 30_000;

/**
 * The earliest time from which records can be due. Every delivery leaves a dead entry in the index of due records, and a reader that
 * holds a snapshot, such as a backup, keeps PostgreSQL from removing it. Without a lower bound, a claim walks over all of them: 42 ms of
 * processor time after 100,000 deliveries, instead of 2.6 ms (2 arm64 cores; bench/mechanisms.md, 7).
 *
 * A scan finds the first due record of each lane; the bound is a margin below the oldest of them. A full scan from time to time finds
 * what became due further in the past, by a transaction that took longer than the margin.
 */
export class DueFloor {
  readonly #clock: Timers;
  readonly #fullScanMs: number;
  /** In monotonic time, as all times here. */
  #oldestDueAtMs: number | undefined;
  #fullScanAtMs = Number.NEGATIVE_INFINITY;
  /** Lanes in which a record became due in the past. */
  readonly #open = new Set<string>();

  constructor(clock: Timers, fullScanMs: number = standardFullScanMs) {
    this.#clock = clock;
    this.#fullScanMs = fullScanMs;
  }

  /** Records of these lanes that became due longer ago than this need not be searched; undefined: search all. */
  sinceMs(lanes: readonly LaneKey[]): number | undefined {
    if (this.#oldestDueAtMs === undefined || lanes.some((lane) => this.#open.has(keyOf(lane)))) return undefined;
    return this.#clock.uptimeMs() - this.#oldestDueAtMs + marginMs;
  }

  /** Begins a scan of all lanes: from where it searches, and how to report what it found. */
  scan(): { readonly sinceMs: number | undefined; found(due: readonly DueLane[]): void } {
    const startedAtMs = this.#clock.uptimeMs();
    const isFull = startedAtMs >= this.#fullScanAtMs + this.#fullScanMs || this.#open.size > 0;
    const open = [...this.#open];
    return {
      sinceMs: isFull ? undefined : this.sinceMs([]),
      found: (due) => {
        this.#oldestDueAtMs = startedAtMs + Math.min(0, ...due.map(({ firstDueInMs }) => firstDueInMs));
        if (isFull) this.#fullScanAtMs = startedAtMs;
        for (const key of open) this.#open.delete(key);
      },
    };
  }

  /** The next scan is a full one. */
  forget(): void {
    this.#oldestDueAtMs = undefined;
    this.#fullScanAtMs = Number.NEGATIVE_INFINITY;
  }

  /** A version that was made a while ago became the next one to deliver, due since it was made. */
  reopen(lanes: readonly LaneKey[]): void {
    for (const lane of lanes) this.#open.add(keyOf(lane));
  }
}

const keyOf = ({ integration, destination }: LaneKey): string => `${destination} ${integration}`;
