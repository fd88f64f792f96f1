import { errorFacts } from '../../kit/log.ts';
import type { Counts } from './batch.ts';
import { Channel } from './channel.ts';
import { DueFloor } from './claiming.ts';
import type { Deliveries, DeliverPorts, DueLane, Lane, LaneKey, Lanes, Room } from './ports.ts';
import { openSettler, type Settler } from './settle.ts';

/** A stopping node waits this long for answers. Records without one are claimed again by the next node. */
const stopLimitMs = 10_000;

/** The engine scans for due work at least this often, in case a signal is lost. */
export const longestSleepMs = 1_000;

/** Up to this many brands, their lanes are listed for the store. */
const listedBrands = 100;

/** The channels of a node: one for each destination in force, and the scan for due work that they share. */
export class Engine implements Deliveries {
  readonly counts: Counts = { delivered: 0, skipped: 0, retry: 0, dead: 0 };
  readonly #ports: DeliverPorts;
  readonly #lanes: () => Lanes;
  readonly #channels = new Map<string, Channel>();
  readonly #closing = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #floor: DueFloor;
  readonly #settler: Settler;
  #followed: Lanes | undefined;
  /** The lanes to look at; undefined for all with work, if there are too many brands to list them. */
  #listed: readonly LaneKey[] | undefined;

  constructor(ports: DeliverPorts, lanes: () => Lanes) {
    const { store, clock, node, log } = ports;
    this.#ports = ports;
    this.#lanes = lanes;
    this.#floor = new DueFloor(clock, ports.fullScanMs);
    this.#settler = openSettler({
      store,
      clock,
      node,
      stopping: this.#stopping.signal,
      onMore: (keys) => this.#offerNextVersions(keys),
      onFailure: (error, lost) => log.warn({ error: errorFacts(error), lost }, 'deliver: writing results failed'),
    });
  }

  get isIdle(): boolean {
    return [...this.#channels.values()].every((channel) => channel.isIdle);
  }

  /** Finds lanes with due work and offers them to their channels. Returns the time until more work is due. Rejects if the store fails. */
  async scan(): Promise<number> {
    this.#followDocuments();
    if (this.#listed?.length === 0) return longestSleepMs;
    const due = await Promise.all((await this.#findDue()).map((lane) => this.#batchDue(lane)));
    const ready = due.filter(({ dueInMs }) => dueInMs <= 0);
    this.#offer(ready.filter(({ isProbe }) => !isProbe));
    await this.#probe(ready.filter(({ isProbe }) => isProbe));
    const waits = due.map(({ dueInMs, destination }) =>
      Math.max(dueInMs, this.#channels.get(destination)?.pausedMs ?? 0),
    );
    return Math.min(longestSleepMs, ...waits);
  }

  room(lane: LaneKey): Room | undefined {
    const open = this.#openLane(lane);
    return open && this.#channels.get(lane.destination)?.room(open);
  }

  /** Lanes whose batches may wait are left to the scan. */
  offer(lanes: readonly LaneKey[]): void {
    const atOnce = lanes.filter(this.#sendsAtOnce);
    this.#offer(atOnce);
    if (atOnce.length < lanes.length) this.#ports.wake.arrived('outbox');
  }

  async close(): Promise<void> {
    const cancel = this.#ports.clock.schedule(stopLimitMs, () => this.#stopping.abort());
    await Promise.all([...this.#channels.values()].map((channel) => channel.close(this.#stopping.signal)));
    await Promise.all(this.#closing);
    cancel();
  }

  /** By the documents in force now, which may be newer than the last scan. */
  readonly #openLane = ({ integration, destination }: LaneKey): Lane | undefined =>
    this.#lanes()
      .of(integration)
      .find((lane) => lane.destination.name === destination && isOpen(lane));

  readonly #sendsAtOnce = (key: LaneKey): boolean => this.#openLane(key)?.destination.batchWaitMs === 0;

  #brandsByDestination(keys: readonly LaneKey[]): [string, string[]][] {
    const open = Map.groupBy(keys.filter(this.#openLane), ({ destination }) => destination);
    return [...open].map(([name, lanes]) => [name, lanes.map(({ integration }) => integration)]);
  }

  #offer(keys: readonly LaneKey[]): void {
    for (const [name, due] of this.#brandsByDestination(keys)) this.#channels.get(name)?.offer(due);
  }

  async #probe(keys: readonly LaneKey[]): Promise<void> {
    for (const [name, due] of this.#brandsByDestination(keys)) await this.#channels.get(name)?.probe(due);
  }

  /** Settled records of these lanes have further versions. */
  #offerNextVersions(keys: readonly LaneKey[]): void {
    this.#floor.reopen(keys);
    this.offer(keys);
  }

  /** A changed document closes its channel. The new one opens at once and claims only what the old one does not hold. */
  #followDocuments(): void {
    const inForce = this.#lanes();
    if (inForce === this.#followed) return;
    this.#followed = inForce;
    // A lane that was paused may have old work.
    this.#floor.forget();
    this.#listed = inForce.brands.size > listedBrands ? undefined : laneKeysOf(inForce);
    const open = inForce.destinations.filter(({ paused }) => !paused);
    const configs = new Map(open.map((config) => [config.name as string, config]));
    for (const [name, channel] of this.#channels) {
      if (configs.get(name)?.revision === channel.revision) continue;
      this.#channels.delete(name);
      const closed = channel.close(this.#stopping.signal).finally(() => this.#closing.delete(closed));
      this.#closing.add(closed);
    }
    const shared = {
      settler: this.#settler,
      floor: this.#floor,
      onSettled: (settled: Counts) => this.#count(settled),
    };
    for (const [name, config] of configs) {
      if (this.#channels.has(name)) continue;
      const laneOf = (integration: string) => this.#openLane({ integration, destination: name });
      this.#channels.set(name, new Channel(this.#ports, config, { ...shared, laneOf }));
    }
  }

  /** Lanes in force with work that is due now or soon. */
  async #findDue(): Promise<DueLane[]> {
    const { store } = this.#ports;
    const scan = this.#floor.scan();
    const bounds = { sinceMs: scan.sinceMs, withinMs: longestSleepMs };
    const due = await (this.#listed ? store.nextDue(this.#listed, bounds) : store.nextDueOfAll(bounds));
    const inForce = due.filter(this.#openLane);
    scan.found(inForce);
    return inForce;
  }

  /** With `batch.wait`, a lane is due once its oldest record has waited for that time or a full batch is due. */
  async #batchDue(lane: DueLane): Promise<DueLane> {
    const { batchWaitMs = 0, batch = 1 } = this.#openLane(lane)?.destination ?? {};
    if (batchWaitMs === 0 || lane.dueInMs > 0 || lane.dueInMs <= -batchWaitMs) return lane;
    const full = (await this.#ports.store.countDue(lane, batch)) >= batch;
    return full ? lane : { ...lane, dueInMs: lane.dueInMs + batchWaitMs };
  }

  #count(settled: Counts): void {
    for (const kind of Object.keys(settled) as (keyof Counts)[]) this.counts[kind] += settled[kind];
  }
}

const isOpen = ({ destination, inPreview }: Lane): boolean => !destination.paused && inPreview !== true;

const laneKeysOf = (lanes: Lanes): LaneKey[] =>
  [...lanes.brands.keys()]
    .flatMap((brand) => lanes.of(brand))
    .filter(isOpen)
    .map(({ integration, destination }) => ({ integration, destination: destination.name }));
