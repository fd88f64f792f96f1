import { errorName } from '../kit/log.ts';
import { type Loop, startLoop } from '../kit/loop.ts';
import type { Counts } from './batch.ts';
import { Channel } from './channel.ts';
import type { ReserveCapacity } from './direct-leases.ts';
import { LaneFloors } from './lane-floors.ts';
import type { DeliverPorts, DueLane, Lane, LaneKey, Lanes } from './ports.ts';
import { openSettler } from './settler.ts';

/** A stopping node waits this long for answers. Records without one are claimed again by the next node. */
const patienceMs = 10_000;

/** Due work is looked for at least this often, in case a signal is lost. */
const longestSleepMs = 1_000;

/** With 100,000 lanes that all have due work, a look takes more than a second. */
const longestRestMs = 10_000;

/** Up to this many brands, their lanes are listed for the store. */
const listedBrands = 100;

/** Delivers until it is stopped. Stopping claims nothing more, waits for calls in progress and closes the destinations. */
export function startDeliveries(ports: DeliverPorts): Loop {
  const engine = openEngine(ports, ports.lanes);
  ports.directLeases?.connect(engine);
  let lastTookMs = 0;
  return startLoop({
    name: 'deliveries',
    heartbeats: ports.heartbeats,
    turn: async () => {
      const startedAtMs = ports.clock.uptimeMs();
      const sleepMs = await engine.look();
      return { sleepMs, tookMs: ports.clock.uptimeMs() - startedAtMs };
    },
    rest: async (looked, signal) => {
      if (looked === undefined) return ports.clock.wait(longestSleepMs, signal);
      // Looking costs an index probe per lane with due work. The pause limits it to a fifth of the time, however many signals arrive.
      // One slow look, for example during a failover, does not make the pause longer.
      const restMs = Math.min(5 + 4 * Math.min(looked.tookMs, lastTookMs), longestRestMs);
      lastTookMs = looked.tookMs;
      await ports.clock.wait(restMs, signal);
      if (looked.sleepMs > restMs) await ports.wake.wait('outbox', looked.sleepMs - restMs, signal);
    },
    onError: (error) => ports.log.warn({ error: (error as Error).message }, 'deliver: looking for due work failed'),
    finish: async () => {
      ports.directLeases?.connect(undefined);
      await engine.close();
    },
  });
}

/** Delivers what is due now, for all brands or one, and returns when nothing more is due. Retries stay in the queue. */
export async function drainOnce(
  ports: DeliverPorts,
  only: { readonly integration?: string } = {},
  onProgress?: (counts: Counts) => void,
): Promise<Counts> {
  const { integration } = only;
  const engine = openEngine(
    ports,
    integration === undefined ? ports.lanes : () => lanesOfOne(ports.lanes(), integration),
  );
  try {
    for (;;) {
      await engine.look();
      onProgress?.(engine.counts);
      if (engine.isIdle) return engine.counts;
      await ports.clock.wait(5);
    }
  } finally {
    await engine.close();
  }
}

const lanesOfOne = (lanes: Lanes, only: string): Lanes => ({
  brands: new Set([only]),
  destinations: lanes.destinations,
  of: (brand) => (brand === only ? lanes.of(brand) : []),
});

interface Engine {
  /** Finds lanes with due work and offers them to their channels. Returns the time until more work is due. */
  look(): Promise<number>;
  readonly isIdle: boolean;
  readonly reserveCapacity: ReserveCapacity;
  /** These lanes have records that were just queued. Lanes whose batches may wait are found by the next look. */
  readonly offerQueued: (lanes: readonly LaneKey[]) => void;
  readonly counts: Counts;
  close(): Promise<void>;
}

function openEngine(ports: DeliverPorts, lanes: () => Lanes): Engine {
  const counts: Counts = { delivered: 0, skipped: 0, retry: 0, dead: 0 };
  const channels = new Map<string, Channel>();
  const closing = new Set<Promise<void>>();
  const stopping = new AbortController();
  let followed: Lanes | undefined;
  /** The lanes to look at; undefined for all with work, if there are too many brands to list them. */
  let listed: readonly LaneKey[] | undefined;

  const laneOf = ({ integration, destination }: LaneKey): Lane | undefined =>
    followed?.of(integration).find((lane) => lane.destination.name === destination && !lane.destination.paused);
  const sendsAtOnce = (key: LaneKey) => laneOf(key)?.destination.batchWaitMs === 0;
  const floors = new LaneFloors(ports.clock, sendsAtOnce, ports.fullLookMs);
  const settler = openSettler({
    store: ports.store,
    clock: ports.clock,
    node: ports.node,
    stopping: stopping.signal,
    onMore: (keys) => {
      floors.reopen(keys);
      const [atOnce, waiting] = [keys.filter(sendsAtOnce), keys.filter((key) => !sendsAtOnce(key))];
      offer(atOnce);
      if (waiting.length > 0) ports.wake.arrived('outbox');
    },
    onFailure: (error, lost) =>
      ports.log.warn(
        { error: error instanceof Error ? error.message : String(error), lost },
        'deliver: writing results failed',
      ),
  });

  const byDestination = (keys: readonly LaneKey[]): Map<string, Lane[]> =>
    Map.groupBy(
      keys.map(laneOf).filter((lane) => lane !== undefined),
      (lane) => lane.destination.name,
    );

  function offer(keys: readonly LaneKey[]): void {
    for (const [name, due] of byDestination(keys)) channels.get(name)?.offer(due);
  }

  async function probe(keys: readonly LaneKey[]): Promise<void> {
    for (const [name, due] of byDestination(keys)) await channels.get(name)?.probe(due);
  }

  /** A changed document closes its channel. The new one opens at once and claims only what the old one does not hold. */
  function followDocuments(): void {
    const inForce = lanes();
    if (inForce === followed) return;
    followed = inForce;
    const { brands, destinations } = inForce;
    listed =
      brands.size > listedBrands
        ? undefined
        : [...brands.keys()]
            .flatMap((brand) => inForce.of(brand))
            .filter((lane) => !lane.destination.paused)
            .map((lane) => ({ integration: lane.integration, destination: lane.destination.name }));
    const configs = new Map(destinations.filter(({ paused }) => !paused).map((one) => [one.name as string, one]));
    for (const [name, channel] of channels) {
      if (configs.get(name)?.revision === channel.revision) continue;
      channels.delete(name);
      const closed = channel.close(stopping.signal).finally(() => closing.delete(closed));
      closing.add(closed);
    }
    for (const [name, config] of configs) {
      if (!channels.has(name)) channels.set(name, new Channel(ports, config, { settler, floors, onSettled: count }));
    }
  }

  const dueOf = (lanes: readonly LaneKey[], isBounded: boolean) =>
    ports.store.nextDue(lanes, {
      sinceMs: (lane) => (isBounded ? floors.sinceMs(lane) : undefined),
      withinMs: longestSleepMs,
    });

  function dueOfAll(isBounded: boolean): Promise<DueLane[]> {
    const allSendAtOnce = followed?.destinations.every(({ batchWaitMs }) => batchWaitMs === 0);
    const sinceMs = isBounded && allSendAtOnce ? floors.oldestSinceMs() : undefined;
    return ports.store.nextDueOfAll({ sinceMs, withinMs: longestSleepMs });
  }

  /** With `batch.wait`, a lane is due once its oldest record has waited for that time or a full batch is due. */
  async function batchDue(lane: DueLane): Promise<DueLane> {
    const { batchWaitMs = 0, batch = 1 } = laneOf(lane)?.destination ?? {};
    if (batchWaitMs === 0 || lane.dueInMs > 0 || lane.dueInMs <= -batchWaitMs) return lane;
    const full = (await ports.store.countDue(lane, batch)) >= batch;
    return full ? lane : { ...lane, dueInMs: lane.dueInMs + batchWaitMs };
  }

  function count(settled: Counts): void {
    counts.delivered += settled.delivered;
    counts.skipped += settled.skipped;
    counts.retry += settled.retry;
    counts.dead += settled.dead;
    ports.observe?.(settled);
  }

  return {
    counts,
    async look() {
      try {
        followDocuments();
        if (listed?.length === 0) return longestSleepMs;
        const look = floors.look();
        const found = await (listed === undefined ? dueOfAll(look.isBounded) : dueOf(listed, look.isBounded));
        look.found(found);
        const due = await Promise.all(found.filter(laneOf).map(batchDue));
        const ready = due.filter(({ dueInMs }) => dueInMs <= 0);
        offer(ready.filter(({ isProbe }) => !isProbe));
        await probe(ready.filter(({ isProbe }) => isProbe));
        const waits = due.map(({ dueInMs, destination }) =>
          Math.max(dueInMs, channels.get(destination)?.pausedMs ?? 0),
        );
        return Math.min(longestSleepMs, ...waits);
      } catch (error) {
        ports.log.warn({ error: errorName(error) }, 'deliver: store does not answer');
        return longestSleepMs;
      }
    },
    reserveCapacity(key, wanted) {
      const lane = laneOf(key);
      return lane && channels.get(lane.destination.name)?.reserveCapacity(lane, wanted);
    },
    offerQueued: (lanes) => offer(lanes.filter(sendsAtOnce)),
    get isIdle() {
      return [...channels.values()].every((channel) => channel.isIdle);
    },
    async close() {
      const cancel = ports.clock.schedule(patienceMs, () => stopping.abort());
      await Promise.all([...channels.values()].map((channel) => channel.close(stopping.signal)));
      await Promise.all(closing);
      cancel();
    },
  };
}
