import type { Clock, Timers } from '../kit/clock.ts';
import type { LaneFloors } from './lane-floors.ts';
import { LaneRing } from './lane-ring.ts';
import { Lease } from './lease.ts';
import type { Leased } from './leased-queue.ts';
import type { DeliverPorts, DeliveryStore, DestinationConfig, Lane } from './ports.ts';
import { needsDelivered } from './select.ts';

/** Claims due records of one destination: the brands in turn, within the rate, not while paused. */
export class Claiming {
  readonly lanes = new LaneRing();
  readonly #store: DeliveryStore;
  readonly #config: DestinationConfig;
  readonly #clock: Clock & Timers;
  readonly #leaseMs: number;
  readonly #floors: LaneFloors;
  #pausedUntilMs = 0;
  #lastClaimAtMs = 0;

  constructor(
    { store, clock }: Pick<DeliverPorts, 'store' | 'clock'>,
    config: DestinationConfig,
    leaseMs: number,
    floors: LaneFloors,
  ) {
    this.#floors = floors;
    this.#store = store;
    this.#config = config;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  get pausedMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#clock.uptimeMs());
  }

  get lastClaimAtMs(): number {
    return this.#lastClaimAtMs;
  }

  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#clock.uptimeMs() + ms);
  }

  /** Claims for the next lane, enough for up to `most` calls shared among the lanes. Returns the records call by call. */
  async claim(most: number): Promise<readonly Leased[]> {
    const { name, batch, rate, selection } = this.#config;
    const wanted = Math.max(1, Math.floor(most / this.lanes.size));
    const lane = this.lanes.next();
    if (lane === undefined) return [];
    const calls = await this.#takeBudget(wanted);
    if (calls === 0) return [];
    const lease = new Lease(this.#clock, this.#leaseMs);
    const claimedAtMs = this.#clock.uptimeMs();
    this.#lastClaimAtMs = claimedAtMs;
    const key = { integration: lane.integration, destination: name };
    const options = { withDelivered: needsDelivered(selection), sinceMs: this.#floors.sinceMs(key) };
    const claims = await this.#store.claim(key, calls * batch, this.#leaseMs, options);
    if (claims.length < calls * batch) this.lanes.remove(lane);
    const unused = calls - Math.ceil(claims.length / batch);
    if (rate && unused > 0) await this.#store.takeBudget(name, -unused, rate);
    return chunks(claims, batch).map((some) => ({ lane, claims: some, lease, sinceMs: claimedAtMs }));
  }

  /** Claims one record for a probe, if this node is the one to send it. */
  async probe(lanes: readonly Lane[]): Promise<readonly Leased[]> {
    const { name, selection } = this.#config;
    const lease = new Lease(this.#clock, this.#leaseMs);
    if (!(await this.#store.takeProbe(name, this.#leaseMs))) return [];
    for (const lane of lanes) {
      const key = { integration: lane.integration, destination: name };
      const options = { withDelivered: needsDelivered(selection), isProbe: true };
      const claims = await this.#store.claim(key, 1, this.#leaseMs, options);
      if (claims.length > 0) return [{ lane, claims, lease, sinceMs: this.#clock.uptimeMs() }];
    }
    await this.#store.releaseProbe(name);
    return [];
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

function chunks<Of>(items: readonly Of[], size: number): Of[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
