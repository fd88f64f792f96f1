import { Alarm } from '../kit/alarm.ts';
import { errorFacts } from '../kit/log.ts';
import type { Counts } from './batch.ts';
import { Calling } from './calling.ts';
import { ClaimPace } from './claim-pace.ts';
import { Claiming } from './claiming.ts';
import type { Destination } from './destination.ts';
import type { Capacity } from './direct-leases.ts';
import { Gathering } from './gathering.ts';
import type { LaneFloors } from './lane-floors.ts';
import { Lease } from './lease.ts';
import type { Leased } from './leased-queue.ts';
import type { DeliverPorts, DestinationConfig, Lane } from './ports.ts';
import { Returning } from './returning.ts';
import { needsDelivered } from './select.ts';
import type { Settler } from './settler.ts';

/** Between the end of a call and the end of its lease: time to write down the result. */
const standardMarginMs = 30_000;
const openAgainMs = 15_000;
const claimAgainMs = 1_000;
/** A pause that is shorter than this ends soon enough to wait for. */
const soonMs = 2_000;

/** What the channels of a node share. */
interface ChannelServices {
  readonly settler: Settler;
  readonly floors: LaneFloors;
  readonly onSettled: (counts: Counts) => void;
}

type State = 'opening' | 'open' | 'claims_only' | 'closed';

/**
 * One destination on this node: a bounded number of concurrent calls, its brands in turn. Channels never wait for each other, so
 * a slow or dead destination delays only itself.
 *
 * | state         | claims | direct leases | starts calls | next state                                                      |
 * |---------------|--------|---------------|--------------|-----------------------------------------------------------------|
 * | `opening`     | no     | no            | no           | `open`, once the destination opens; after a failure claims pause |
 * | `open`        | yes    | yes           | yes          | `claims_only`, when it asks to wait or its circuit opens        |
 * | `claims_only` | yes    | no            | yes          | `open`, when a claim returns records: the pause is over         |
 * | `closed`      | no     | no            | no           | none; running calls end, queued records go back                 |
 *
 * In any state claims may be paused for a time: the rate is used up, the store failed, or the destination did not open.
 *
 * Leased records come from `claiming` or from direct leases, wait in `gathering`, and are sent by `calling` or given back by
 * `returning`. A call ends before its lease does, so two calls for one record never run at the same time, on any number of nodes.
 * Only a process that is frozen between the last check of the lease and the first byte of the call can break that; the version in the
 * message then shows the destination which one is newer.
 */
export class Channel {
  readonly #ports: DeliverPorts;
  readonly #config: DestinationConfig;
  readonly #leaseMs: number;
  readonly #takesDirectLeases: boolean;
  readonly #gathering: Gathering;
  readonly #claiming: Claiming;
  readonly #calling: Calling;
  readonly #returning: Returning;
  readonly #pace: ClaimPace;
  readonly #alarm: Alarm;
  readonly #closing = new AbortController();
  /** Aborted when running calls may not wait any longer. */
  readonly #stopping = new AbortController();
  #state: State = 'opening';
  #destination: Destination | undefined;
  /** The claims under way. */
  #claims: Promise<void> | undefined;
  #claimAgain = false;
  #directLeaseSinceClaim = false;

  constructor(ports: DeliverPorts, config: DestinationConfig, { settler, floors, onSettled }: ChannelServices) {
    const { clock, leaseMarginMs = standardMarginMs } = ports;
    this.#ports = ports;
    this.#config = config;
    this.#leaseMs = config.timeoutMs + leaseMarginMs;
    this.#takesDirectLeases =
      !config.rate && config.batchWaitMs <= leaseMarginMs / 4 && !needsDelivered(config.selection);
    this.#gathering = new Gathering(config, clock, leaseMarginMs);
    this.#claiming = new Claiming(ports, config, this.#leaseMs, floors);
    this.#calling = new Calling(
      { ports, config, settler, leaseMs: this.#leaseMs, stopping: this.#stopping.signal },
      { onFree: () => this.#advance(), onWaitAsked: () => this.#waitAsked(), onSettled },
    );
    this.#returning = new Returning(ports, config.name, (lane) => this.offer([lane]));
    const parts = { claiming: this.#claiming, gathering: this.#gathering, calling: this.#calling };
    this.#pace = new ClaimPace(config, clock, parts);
    this.#alarm = new Alarm(clock, () => this.#advance());
  }

  get revision(): string {
    return this.#config.revision;
  }

  /** Nothing is being sent, and nothing can be sent soon. */
  get isIdle(): boolean {
    const { lanes, pausedMs } = this.#claiming;
    const hasNothingToClaim = lanes.size === 0 || pausedMs > soonMs;
    return (
      this.#returning.isIdle &&
      this.#claims === undefined &&
      this.#calling.isIdle &&
      this.#gathering.queue.size === 0 &&
      hasNothingToClaim
    );
  }

  /** How long claims stay paused. */
  get pausedMs(): number {
    return this.#claiming.pausedMs;
  }

  /** These lanes have due work. */
  offer(lanes: readonly Lane[]): void {
    if (this.#state === 'closed') return;
    for (const lane of lanes) this.#claiming.lanes.add(lane);
    this.#advance();
  }

  /** The circuit is open and these lanes have due work: sends one record as a probe, if no other node does. */
  async probe(lanes: readonly Lane[]): Promise<void> {
    if (this.#state === 'closed' || !this.#calling.hasFreeSlot) return;
    if (this.#state === 'open') this.#state = 'claims_only';
    const destination = await this.#open();
    if (destination === undefined) return this.#advance();
    for (const leased of await this.#claiming.probe(lanes)) this.#calling.start(destination, leased);
  }

  /** Reserves capacity for records that are about to be leased directly. With work to claim as well, the two alternate. */
  reserveCapacity(lane: Lane, wanted: number): Capacity | undefined {
    if (this.#state !== 'open' || !this.#takesDirectLeases) return undefined;
    if (this.#claiming.lanes.size > 0 && this.#directLeaseSinceClaim) return undefined;
    const count = Math.min(wanted, this.#pace.capacity);
    if (count <= 0) return undefined;
    this.#directLeaseSinceClaim = true;
    const { queue } = this.#gathering;
    queue.reserve(count);
    const lease = new Lease(this.#ports.clock, this.#leaseMs);
    return {
      count,
      leaseMs: this.#leaseMs,
      use: async (claims) => {
        queue.release(count);
        if (claims.length === 0) return this.#advance();
        const leased: Leased = { lane, claims, lease, sinceMs: this.#ports.clock.uptimeMs() };
        if (this.#state !== 'open') return this.#returning.putBack(leased);
        queue.add(leased);
        this.#advance();
      },
      release: (leased) => {
        queue.release(count);
        this.#advance();
        void this.#returning.putBackInDoubt(lane, leased, lease, this.#closing.signal);
      },
    };
  }

  /** Claims nothing more and waits for running calls, until the signal aborts. */
  async close(signal: AbortSignal): Promise<void> {
    this.#state = 'closed';
    this.#closing.abort();
    this.#claiming.lanes.clear();
    this.#alarm.close();
    const stop = () => this.#stopping.abort();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    await this.#claims;
    await this.#putAllBack();
    await this.#calling.ended();
    signal.removeEventListener('abort', stop);
    await this.#destination?.close().catch(() => {});
  }

  /** Called after every change: starts the calls that are ready, then claims if there is capacity. */
  #advance(): void {
    if (this.#state === 'closed') return;
    this.#startCalls();
    const { pausedMs } = this.#claiming;
    if (pausedMs > 0) {
      this.#alarm.ringIn(pausedMs + 2);
      return;
    }
    if (this.#claims !== undefined) {
      this.#claimAgain = true;
      return;
    }
    this.#claims = this.#claim()
      .catch((error: unknown) => {
        this.#ports.log.warn(
          { destination: this.#config.name, error: errorFacts(error) },
          'deliver: claiming failed, trying again',
        );
        this.#claiming.pause(claimAgainMs);
      })
      .finally(() => {
        this.#claims = undefined;
        const again = this.#claimAgain || this.#claiming.pausedMs > 0;
        this.#claimAgain = false;
        if (again) this.#advance();
      });
  }

  #startCalls(): void {
    const { queue } = this.#gathering;
    if (this.#destination === undefined || this.#state === 'closed') return;
    while (queue.count > 0 && this.#calling.hasFreeSlot && !this.#calling.isStoreBehind) {
      const next = this.#gathering.next(this.#calling.lastCallAtMs);
      if (next === undefined) break;
      if (this.#gathering.isShort(next)) void this.#returning.putBack(next);
      else this.#calling.start(this.#destination, next);
    }
    if (queue.count > 0 && this.#calling.hasFreeSlot) this.#alarm.ringIn(this.#gathering.checkAfterMs);
  }

  /** Claims until there is enough to do or nothing more is due. */
  async #claim(): Promise<void> {
    const { lanes } = this.#claiming;
    while (!this.#closing.signal.aborted && this.#pace.mayClaim) {
      const destination = await this.#open();
      if (destination === undefined) return;
      const claimed = await this.#claiming.claim(this.#pace.capacity / this.#config.batch);
      this.#directLeaseSinceClaim = false;
      if (claimed.length > 0 && this.#state === 'claims_only') this.#state = 'open';
      for (const leased of claimed) {
        const canStart = this.#calling.hasFreeSlot && this.#state !== 'closed' && !this.#gathering.isShort(leased);
        if (canStart) this.#calling.start(destination, leased);
        else this.#gathering.queue.add(leased);
      }
    }
    this.#startCalls();
    if (lanes.size > 0 && this.#pace.capacity > 0) this.#alarm.ringIn(this.#gathering.gatherMs);
  }

  async #open(): Promise<Destination | undefined> {
    if (this.#destination !== undefined) return this.#destination;
    try {
      this.#destination = await this.#ports.open(this.#config);
      if (this.#state === 'opening') this.#state = 'open';
    } catch (error) {
      const code = (error as { code?: string }).code;
      this.#ports.log.error(
        { destination: this.#config.name, error: errorFacts(error), code },
        'deliver: destination cannot be opened',
      );
      this.#claiming.pause(openAgainMs);
    }
    return this.#destination;
  }

  /** The destination asked to wait or its circuit opened: queued records are returned, and the next claim decides which may be sent. */
  async #waitAsked(): Promise<void> {
    if (this.#state === 'open') this.#state = 'claims_only';
    await this.#putAllBack();
  }

  async #putAllBack(): Promise<void> {
    for (const leased of this.#gathering.takeAll()) await this.#returning.putBack(leased);
  }
}
