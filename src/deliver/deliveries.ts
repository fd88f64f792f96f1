import type { Counts } from './batch.ts';
import { type Channel, openChannel } from './channel.ts';
import type { ReserveCapacity } from './direct-leases.ts';
import type { DeliverPorts, DueLane, Lane, LaneKey } from './ports.ts';
import { openSettler } from './settler.ts';

/** A stopping node waits this long for answers; what has none by then is claimed anew by whoever comes next. */
const patienceMs = 10_000;

/** Looked for at least this often, should a signal be lost. */
const longestSleepMs = 1_000;

export interface Deliveries {
  /** Claims nothing more, waits for what is under way, closes the destinations. */
  stop(): Promise<void>;
}

/** Delivers until it is stopped. */
export function startDeliveries(ports: DeliverPorts): Deliveries {
  const stopping = new AbortController();
  const engine = openEngine(ports, ports.lanes);
  ports.directLeases?.connect(engine.reserveCapacity);
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const sleepMs = await engine.look();
      // Looking costs an index probe per lane; under a storm of signals it takes a fifth of its own time at most.
      const restMs = Math.min(5 + 4 * (performance.now() - startedAt), 500);
      await ports.clock.wait(restMs, stopping.signal);
      if (sleepMs > restMs) await ports.wake.wait('outbox', sleepMs - restMs, stopping.signal);
    }
    ports.directLeases?.connect(undefined);
    await engine.close();
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Delivers what is due now, for all brands or one, and comes back when nothing more is. What waits for a retry stays. */
export async function drainOnce(ports: DeliverPorts, only: { readonly integration?: string } = {}): Promise<Counts> {
  const wanted = (): readonly Lane[] =>
    ports.lanes().filter(({ integration }) => only.integration === undefined || integration === only.integration);
  const engine = openEngine(ports, wanted);
  try {
    for (;;) {
      await engine.look();
      if (engine.isIdle) return engine.counts;
      await ports.clock.wait(5);
    }
  } finally {
    await engine.close();
  }
}

interface Engine {
  /** Finds lanes with due work and hands them to their channels; gives back how long nothing new is due. */
  look(): Promise<number>;
  readonly isIdle: boolean;
  readonly reserveCapacity: ReserveCapacity;
  readonly counts: Counts;
  close(): Promise<void>;
}

function openEngine(ports: DeliverPorts, lanes: () => readonly Lane[]): Engine {
  const counts: Counts = { delivered: 0, skipped: 0, retry: 0, dead: 0 };
  const channels = new Map<string, Channel>();
  const closing = new Set<Promise<void>>();
  const stopping = new AbortController();
  let known = new Map<string, Lane>();

  const settler = openSettler({
    store: ports.store,
    clock: ports.clock,
    node: ports.node,
    stopping: stopping.signal,
    onMore: (keys) => offer(keys.filter((key) => known.get(nameOf(key))?.destination.batchWaitMs === 0)),
    onTrouble: (error, lost) =>
      ports.log.warn(
        { error: error instanceof Error ? error.message : String(error), lost },
        'deliver: writing results failed',
      ),
  });

  function offer(keys: readonly LaneKey[]): void {
    const byDestination = Map.groupBy(
      keys.map((key) => known.get(nameOf(key))).filter((lane) => lane !== undefined),
      (lane) => lane.destination.name,
    );
    for (const [name, due] of byDestination) channels.get(name)?.offer(due);
  }

  /** A document that changed closes its channel; the new one opens at once and claims only what the old one did not hold. */
  function followDocuments(): void {
    known = new Map(
      lanes()
        .filter((lane) => !lane.destination.paused)
        .map((lane) => [nameOf({ integration: lane.integration, destination: lane.destination.name }), lane]),
    );
    const configs = new Map([...known.values()].map(({ destination }) => [destination.name as string, destination]));
    for (const [name, channel] of channels) {
      if (configs.get(name)?.revision === channel.revision) continue;
      channels.delete(name);
      const closed = channel.close(stopping.signal).finally(() => closing.delete(closed));
      closing.add(closed);
    }
    for (const [name, config] of configs) {
      if (!channels.has(name)) channels.set(name, openChannel(ports, config, settler, count));
    }
  }

  /** Where a batch waits for more, a lane is due once its oldest has waited so long, or enough have gathered. */
  async function batchDue(lane: DueLane): Promise<DueLane> {
    const { batchWaitMs = 0, batch = 1 } = known.get(nameOf(lane))?.destination ?? {};
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
        const keys = [...known.values()].map((lane) => ({
          integration: lane.integration,
          destination: lane.destination.name,
        }));
        if (keys.length === 0) return longestSleepMs;
        const due = await Promise.all((await ports.store.nextDue(keys)).map(batchDue));
        offer(due.filter(({ dueInMs }) => dueInMs <= 0));
        const waits = due.map(({ dueInMs, destination }) => Math.max(dueInMs, channels.get(destination)?.quietMs ?? 0));
        return Math.min(longestSleepMs, ...waits);
      } catch (error) {
        ports.log.warn(
          { error: error instanceof Error ? error.name : String(error) },
          'deliver: store does not answer',
        );
        return longestSleepMs;
      }
    },
    reserveCapacity(key, wanted) {
      const lane = known.get(nameOf(key));
      return lane && channels.get(lane.destination.name)?.reserveCapacity(lane, wanted);
    },
    get isIdle() {
      return [...channels.values()].every((channel) => channel.isIdle);
    },
    async close() {
      const timer = setTimeout(() => stopping.abort(), patienceMs);
      await Promise.all([...channels.values()].map((channel) => channel.close(stopping.signal)));
      await Promise.all(closing);
      clearTimeout(timer);
    },
  };
}

const nameOf = (key: LaneKey): string => JSON.stringify([key.integration, key.destination]);
