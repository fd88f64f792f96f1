import { chunksOf } from '../../kit/chunks.ts';
import { errorFacts } from '../../kit/log.ts';
import { type BatchContext, type Counts, deliverBatch } from './batch.ts';
import { Claiming, type DueFloor, Lease, type Leased, type OpenLane } from './claiming.ts';
import type { Destination } from './destination.ts';
import type { Claimed, DeliverPorts, DestinationConfig, Lane, Room } from './ports.ts';
import { needsDelivered } from './select.ts';
import type { Settler } from './settle.ts';

/** Between the end of a call and the end of its lease: time to write down the result. */
const standardMarginMs = 30_000;
const openAgainMs = 15_000;
const claimAgainMs = 1_000;
/** A pause that is shorter than this ends soon enough to wait for. */
const soonMs = 2_000;

/** What the channels of a node share. */
interface ChannelServices {
  readonly settler: Settler;
  readonly floor: DueFloor;
  readonly laneOf: OpenLane;
  readonly onSettled: (counts: Counts) => void;
}

/**
 * One destination on this node: a bounded number of concurrent calls, its brands in turn. Channels never wait for each other, so
 * a slow or dead destination delays only itself.
 *
 * It claims when it has nothing ready and a call can start. What it claimed is sent, as soon as a call is free, or put back: when the
 * destination asks to wait, when its circuit opens, when too little of the lease is left, or when the channel closes.
 *
 * A call ends before its lease does, so two calls for one record never run at the same time, on any number of nodes. Only a process
 * that is frozen between the last check of the lease and the first byte of the call can break that; the version in the message then
 * shows the destination which one is newer.
 */
export class Channel {
  readonly #ports: DeliverPorts;
  readonly #config: DestinationConfig;
  readonly #marginMs: number;
  readonly #leaseMs: number;
  readonly #laneOf: OpenLane;
  readonly #claiming: Claiming;
  readonly #calling: Calling;
  /** Aborted when running calls may not wait any longer. */
  readonly #stopping = new AbortController();
  #isClosed = false;
  #destination: Destination | undefined;
  /** Claimed, waiting for a call. */
  #ready: Leased[] = [];
  /** The claim under way. */
  #claim: Promise<void> | undefined;
  #returning = 0;
  /** Set while a claim waits. The time of the next claim only ever becomes later, so an alarm never rings too late. */
  #cancelAlarm: (() => void) | undefined;

  constructor(ports: DeliverPorts, config: DestinationConfig, { settler, onSettled, ...claiming }: ChannelServices) {
    const { leaseMarginMs = standardMarginMs } = ports;
    const leaseMs = config.timeoutMs + leaseMarginMs;
    this.#leaseMs = leaseMs;
    this.#laneOf = claiming.laneOf;
    this.#ports = ports;
    this.#config = config;
    this.#marginMs = leaseMarginMs;
    this.#claiming = new Claiming(ports, config, leaseMs, claiming);
    this.#calling = new Calling(
      { ports, config, settler, leaseMs, stopping: this.#stopping.signal },
      { onFree: () => this.#advance(), onWaitAsked: () => this.#putAllBack(), onSettled },
    );
  }

  get revision(): string {
    return this.#config.revision;
  }

  /** Nothing is being sent, and nothing can be sent soon. */
  get isIdle(): boolean {
    const hasNothingToClaim = !this.#claiming.hasBrands || this.#claiming.pausedMs > soonMs;
    const isWorking = this.#claim !== undefined || this.#ready.length > 0 || this.#returning > 0;
    return this.#calling.isIdle && hasNothingToClaim && !isWorking;
  }

  /** How long claims stay paused. */
  get pausedMs(): number {
    return this.#claiming.pausedMs;
  }

  /** These brands have due work. */
  offer(brands: readonly string[]): void {
    if (this.#isClosed) return;
    this.#claiming.add(brands);
    this.#advance();
  }

  /**
   * How a transaction may lease what it queues for this lane. Not where a claim reads more than the newest version, where there is a rate, or
   * while older records wait for a claim: they come first.
   */
  room(lane: Lane): Room | undefined {
    const { batch, rate, revision, selection } = this.#config;
    const isOpen = this.#destination !== undefined && !this.#isClosed && lane.destination.revision === revision;
    const isClaiming = this.#claiming.hasBrands || this.#claiming.pausedMs > 0;
    if (!isOpen || isClaiming || rate !== undefined || needsDelivered(selection)) return undefined;
    const lease = new Lease(this.#ports.clock, this.#leaseMs);
    const ready = this.#ready.reduce((sum, { claims }) => sum + claims.length, 0);
    const take = (claims: readonly Claimed[]) => {
      const calls = chunksOf(claims, batch).map((part) => ({ lane, claims: part, lease }));
      if (this.#isClosed || this.#laneOf(lane.integration)?.destination.revision !== revision) {
        for (const one of calls) void this.#putBack(one);
        return;
      }
      this.#ready.push(...calls);
      this.#startCalls();
    };
    return { most: this.#calling.soon - ready, batch, leaseMs: this.#leaseMs, take };
  }

  /** The circuit is open and these brands have due work: sends one record as a probe, if no other node does. */
  async probe(brands: readonly string[]): Promise<void> {
    if (this.#isClosed || !this.#calling.hasFreeSlot || !(await this.#open())) return;
    this.#ready.push(...(await this.#claiming.probe(brands)));
    this.#startCalls();
  }

  /** Claims nothing more and waits for running calls, until the signal aborts. */
  async close(signal: AbortSignal): Promise<void> {
    this.#isClosed = true;
    this.#cancelAlarm?.();
    const stop = () => this.#stopping.abort();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    await this.#claim;
    await this.#putAllBack();
    await this.#calling.ended();
    signal.removeEventListener('abort', stop);
    await this.#destination?.close().catch(() => {});
  }

  /** Called after every change: starts the calls that are ready, then claims if there is capacity. */
  #advance(): void {
    if (this.#isClosed) return;
    this.#startCalls();
    const { hasBrands, waitMs } = this.#claiming;
    if (!hasBrands || this.#claim !== undefined || this.#ready.length > 0) return;
    if (!this.#calling.hasFreeSlot || this.#calling.isStoreBehind) return;
    if (waitMs > 0) {
      this.#cancelAlarm ??= this.#ports.clock.schedule(waitMs + 1, () => {
        this.#cancelAlarm = undefined;
        this.#advance();
      });
      return;
    }
    this.#claim = this.#claimOnce()
      .catch((error: unknown) => {
        this.#ports.log.warn(
          { destination: this.#config.name, error: errorFacts(error) },
          'deliver: claiming failed, trying again',
        );
        this.#claiming.pause(claimAgainMs);
      })
      .finally(() => {
        this.#claim = undefined;
        this.#advance();
      });
  }

  async #claimOnce(): Promise<void> {
    if (await this.#open()) this.#ready.push(...(await this.#claiming.claim(this.#calling.capacity)));
  }

  #startCalls(): void {
    const { timeoutMs } = this.#config;
    while (this.#destination !== undefined && this.#calling.hasFreeSlot && !this.#calling.isStoreBehind) {
      const next = this.#ready.shift();
      if (next === undefined) return;
      const isShort = next.lease.leftMs < timeoutMs + this.#marginMs / 2;
      if (isShort || this.#isClosed) void this.#putBack(next);
      else this.#calling.start(this.#destination, next);
    }
  }

  /** False if the destination cannot be opened now; claims then pause. */
  async #open(): Promise<boolean> {
    if (this.#destination !== undefined) return true;
    try {
      this.#destination = await this.#ports.open(this.#config);
      return true;
    } catch (error) {
      const code = (error as { code?: string }).code;
      this.#ports.log.error(
        { destination: this.#config.name, error: errorFacts(error), code },
        'deliver: destination cannot be opened',
      );
      this.#claiming.pause(openAgainMs);
      return false;
    }
  }

  async #putAllBack(): Promise<void> {
    for (const leased of this.#ready.splice(0)) await this.#putBack(leased);
  }

  /** Releases records that were not sent, so that they can be claimed again at once. If that fails, the leases expire. */
  async #putBack({ lane, claims }: Leased): Promise<void> {
    const { store } = this.#ports;
    const key = { integration: lane.integration, destination: this.#config.name };
    // A record that may have arrived earlier stays marked as such.
    const tried = claims.filter(({ interrupted }) => interrupted);
    const untried = claims.filter(({ interrupted }) => !interrupted);
    this.#returning += 1;
    if (tried.length > 0) await store.extend(key, tried, 0).catch(() => {});
    if (untried.length > 0) await store.putBack(key, untried).catch(() => {});
    this.#returning -= 1;
    this.offer([lane.integration]);
  }
}

interface CallingEvents {
  /** A slot became free, or a call was settled. */
  readonly onFree: () => void;
  /** The destination asked to wait, and that is stored. */
  readonly onWaitAsked: () => Promise<void>;
  readonly onSettled: (counts: Counts) => void;
}

/** A destination that takes single records and answers faster than this on average gets several per free call from one claim (bench/mechanisms.md, 5). */
const quickMs = 1_000;
const quickCalls = 4;

const soonCallsMs = 250;
const mostSoon = 1_000;

/**
 * Calls one destination: at most `concurrency` calls wait for its answer, and at most as many again wait for their settlement to be
 * written.
 */
class Calling {
  readonly #context: Omit<BatchContext, 'destination' | 'onAnswered' | 'onWaitAsked'>;
  readonly #events: CallingEvents;
  readonly #running = new Set<Promise<void>>();
  #waitingForAnswer = 0;
  /** Moving average. */
  #answerMs = quickMs;

  constructor(context: Omit<BatchContext, 'destination' | 'onAnswered' | 'onWaitAsked'>, events: CallingEvents) {
    this.#context = context;
    this.#events = events;
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  get hasFreeSlot(): boolean {
    return this.#waitingForAnswer < this.#context.config.concurrency;
  }

  /** Too many results wait to be written: starting more calls would only make the store slower. */
  get isStoreBehind(): boolean {
    return this.#running.size >= 2 * this.#context.config.concurrency;
  }

  /** How many calls to claim for. */
  get capacity(): number {
    const { concurrency, batch, rate } = this.#context.config;
    const isQuick = batch === 1 && !rate && this.#answerMs < quickMs;
    return concurrency * (isQuick ? quickCalls : 1) - this.#waitingForAnswer;
  }

  /** How many records can be sent within a quarter of a second. */
  get soon(): number {
    const { concurrency, batch } = this.#context.config;
    if (this.isStoreBehind) return 0;
    return Math.min(mostSoon, concurrency * Math.max(1, Math.floor(soonCallsMs / this.#answerMs)) * batch);
  }

  start(destination: Destination, leased: Leased): void {
    const { ports, config } = this.#context;
    const startedAtMs = ports.clock.uptimeMs();
    this.#waitingForAnswer += 1;
    let isAnswered = false;
    const onAnswered = (): void => {
      if (isAnswered) return;
      isAnswered = true;
      this.#waitingForAnswer -= 1;
      this.#answerMs += (ports.clock.uptimeMs() - startedAtMs - this.#answerMs) / 8;
      this.#events.onFree();
    };
    const context: BatchContext = {
      ...this.#context,
      destination,
      onAnswered,
      onWaitAsked: this.#events.onWaitAsked,
    };
    const call = deliverBatch(context, leased)
      .then(this.#events.onSettled)
      .catch((error: unknown) => {
        ports.log.error(
          { destination: config.name, error: errorFacts(error) },
          'deliver: call failed; its leases expire',
        );
      })
      .finally(() => {
        onAnswered();
        this.#running.delete(call);
        this.#events.onFree();
      });
    this.#running.add(call);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}
