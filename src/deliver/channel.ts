import { type BatchContext, type Counts, deliverBatch } from './batch.ts';
import type { Destination } from './destination.ts';
import type { Capacity } from './direct-leases.ts';
import { LaneRing } from './lane-ring.ts';
import { type Leased, LeasedQueue } from './leased-queue.ts';
import type { DeliverPorts, DestinationConfig, Lane } from './ports.ts';
import type { Settler } from './settler.ts';

/**
 * One destination on this node: so many calls side by side and no more, its brands in turn. Nothing here waits for another
 * destination, so that a slow or dead one delays only itself.
 *
 * Records come here leased, in two ways: claimed, or handed over by the transaction that changed them, into room kept for them.
 * What no call can take at once waits, for half of the margin of its lease at most. A call ends before its lease does: two calls for one
 * record never run at the same time, on any number of nodes. Only a process that is stopped for longer than the margin and then
 * goes on can break that; the version in the message tells the destination which one is newer.
 */
export interface Channel {
  readonly revision: string;
  /** These lanes have due work. */
  offer(lanes: readonly Lane[]): void;
  /** Keeps room for records of the lane that are about to be leased to this node. Where others wait in line, they take turns. */
  reserveCapacity(lane: Lane, wanted: number): Capacity | undefined;
  /** Nothing is being sent, and nothing that could be sent soon is known. */
  readonly isIdle: boolean;
  /** How long nothing will be sent: its rate is used up, or it cannot be opened. */
  readonly quietMs: number;
  /** Claims nothing more and waits for what is under way; when the signal comes, no longer. */
  close(stopping: AbortSignal): Promise<void>;
}

/** Between the end of a call and the end of its lease: time to write down the result. */
const standardMarginMs = 30_000;
const openAgainMs = 15_000;
/**
 * Under load a call waits for more records, by how many it can take: a quarter of a millisecond for each. A warehouse takes 1,000 in 73
 * µs each and 200 in 92, and waits 250 ms; one that takes a single record only lets claims gather, for 10 ms.
 */
const gatherMsOf = (batch: number): number => Math.min(Math.max(10, batch / 4), 250);
const soonMs = 2_000;
/** A destination that answers sooner than this is given more than its calls can take at once. */
const quickMs = 1_000;

/** By a clock that nobody sets: one set back by an hour would keep a destination quiet for an hour. */
const uptimeMs = (): number => performance.now();

export function openChannel(
  ports: DeliverPorts,
  config: DestinationConfig,
  settler: Settler,
  onSettled: (counts: Counts) => void,
): Channel {
  const { store, clock, log, leaseMarginMs = standardMarginMs } = ports;
  const leaseMs = config.timeoutMs + leaseMarginMs;
  const gatherMs = gatherMsOf(config.batch);
  const ring = new LaneRing();
  const waiting = new LeasedQueue();
  /** Others are claimed: who pays by the call, waits for long or looks at what was delivered before. */
  const isDirect = !config.rate && config.batchWaitMs <= leaseMarginMs / 4 && config.selection.consent === undefined;
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();
  let free = config.concurrency;
  let quietUntilMs = 0;
  let closed = false;
  let pumping: Promise<void> | undefined;
  let pumpAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let claimedAtMs = 0;
  /** Something was handed over since the last claim. */
  let handedInBetween = false;
  /** The destination said to wait: the next claim tells who may go on. */
  let mustClaim = false;
  let calledAtMs = Number.NEGATIVE_INFINITY;
  let gathering: NodeJS.Timeout | undefined;
  let destination: Destination | undefined;
  /** How long calls take, the last ones counting most. */
  let answerMs = quickMs;

  function beQuiet(ms: number): void {
    quietUntilMs = Math.max(quietUntilMs, uptimeMs() + ms);
    clearTimeout(timer);
    if (!closed) timer = setTimeout(pump, quietUntilMs - uptimeMs() + 2);
  }

  function pump(): void {
    sendWaiting();
    if (uptimeMs() < quietUntilMs) return; // the timer of beQuiet comes back
    if (pumping !== undefined) {
      pumpAgain = true;
      return;
    }
    pumping = fill()
      .catch((error: unknown) => {
        log.warn({ destination: config.name, error: nameOf(error) }, 'deliver: claiming failed, trying again');
        beQuiet(1_000);
      })
      .finally(() => {
        pumping = undefined;
        if (!pumpAgain) return;
        pumpAgain = false;
        pump();
      });
  }

  /**
   * How many more records may come: as many as the calls can take; where they take them one by one and answer quickly, some more,
   * since a commit or a claim brings them by the hundred for little more than one.
   */
  function room(): number {
    const depth = answerMs < quickMs && !config.rate ? Math.max(config.batch, 4) : config.batch;
    return config.concurrency * depth - (config.concurrency - free) * config.batch - waiting.size;
  }

  /** Answers come one by one: the next claim waits until the calls have little left to do, though not for long. */
  function mayClaim(): boolean {
    if (underWay.size === 0) return true;
    if (room() <= 0 || underWay.size >= 2 * config.concurrency) return false;
    if (waiting.count > 0) return waiting.count * 2 <= config.concurrency * config.batch;
    return free * 2 >= config.concurrency || uptimeMs() >= claimedAtMs + gatherMs;
  }

  /**
   * Full calls go at once; others when they waited as long as the document says, or else when they waited a little or the last
   * call is long enough ago.
   */
  function isReady(all: Leased): boolean {
    if (all.claims.length >= config.batch || isShort(all)) return true;
    const { sinceMs } = all;
    return (
      uptimeMs() >= (config.batchWaitMs > 0 ? sinceMs + config.batchWaitMs : Math.min(sinceMs, calledAtMs) + gatherMs)
    );
  }

  /** What is left of the lease is too little for a call. */
  const isShort = ({ leaseEndsAtMs }: Leased): boolean =>
    leaseEndsAtMs - clock.now() < config.timeoutMs + leaseMarginMs / 2;

  /** Starts calls for what waits. */
  function sendWaiting(): void {
    if (destination === undefined || closed) return;
    while (free > 0 && waiting.count > 0 && underWay.size < 2 * config.concurrency) {
      const next = waiting.take(config.batch, isReady);
      if (next === undefined) break;
      if (isShort(next)) void putBack(next);
      else call(destination, next);
    }
    if (free > 0 && waiting.count > 0)
      gathering ??= setTimeout(gathered, Math.min(gatherMs, config.batchWaitMs || gatherMs));
  }

  /** Nobody sent it, or not this time: it waits in line like all the others. Where even that fails, the lease runs out. */
  async function putBack({ lane, claims }: Leased): Promise<void> {
    const key = { integration: lane.integration, destination: config.name };
    const tried = claims.filter(({ interrupted }) => interrupted);
    const untried = claims.filter(({ interrupted }) => !interrupted);
    if (tried.length > 0) await store.abandon(key, tried).catch(() => {});
    if (untried.length > 0) await store.putBack(key, untried).catch(() => {});
    if (closed) return;
    ring.add(lane);
    pump();
  }

  async function putAllBack(): Promise<void> {
    for (let left = waiting.take(Infinity); left !== undefined; left = waiting.take(Infinity)) await putBack(left);
  }

  function gathered(): void {
    gathering = undefined;
    pump();
  }

  /** Claims until there is enough to do or nothing more is due. */
  async function fill(): Promise<void> {
    while (!closed && mayClaim() && ring.size > 0 && uptimeMs() >= quietUntilMs) {
      const opened = await opening();
      if (opened === undefined) return;
      const lane = ring.next();
      if (lane === undefined) return;
      let calls = Math.max(1, Math.floor(room() / config.batch / ring.size));
      if (config.rate) {
        const budget = await store.takeBudget(config.name, calls, config.rate);
        calls = budget.granted;
        if (calls === 0) return beQuiet(budget.waitMs);
      }
      const leaseEndsAtMs = clock.now() + leaseMs;
      const key = { integration: lane.integration, destination: config.name };
      const withDelivered = config.selection.consent !== undefined;
      claimedAtMs = uptimeMs();
      const claims = await store.claim(key, calls * config.batch, leaseMs, withDelivered);
      if (claims.length < calls * config.batch) ring.remove(lane);
      handedInBetween = false;
      if (claims.length > 0) mustClaim = false;
      for (let start = 0; start < claims.length; start += config.batch) {
        const some = claims.slice(start, start + config.batch);
        const leased = { lane, claims: some, leaseEndsAtMs, sinceMs: claimedAtMs };
        if (free > 0) call(opened, leased);
        else waiting.add(leased);
      }
      const unused = calls - Math.ceil(claims.length / config.batch);
      if (config.rate && unused > 0) await store.takeBudget(config.name, -unused, config.rate);
    }
    if (!closed && room() > 0 && ring.size > 0) gathering ??= setTimeout(gathered, gatherMs);
  }

  async function opening(): Promise<Destination | undefined> {
    if (destination !== undefined) return destination;
    try {
      destination = await ports.open(config);
    } catch (error) {
      const code = (error as { code?: string }).code;
      log.error({ destination: config.name, error: nameOf(error), code }, 'deliver: destination cannot be opened');
      beQuiet(openAgainMs);
    }
    return destination;
  }

  function call(opened: Destination, { lane, claims, leaseEndsAtMs }: Leased): void {
    free -= 1;
    const startedAtMs = uptimeMs();
    calledAtMs = startedAtMs;
    let isAnswered = false;
    const answered = (): void => {
      if (isAnswered) return;
      isAnswered = true;
      free += 1;
      answerMs += (uptimeMs() - startedAtMs - answerMs) / 8;
      pump();
    };
    const context: BatchContext = {
      ports,
      config,
      destination: opened,
      settler,
      leaseMs,
      stopping: stopping.signal,
      answered,
      toldToWait: () => {
        mustClaim = true;
        return putAllBack();
      },
    };
    const work = deliverBatch(context, lane, claims, leaseEndsAtMs)
      .then(onSettled)
      .catch((error: unknown) => {
        // The leases run out and the batch is claimed again.
        log.error({ destination: config.name, error: nameOf(error) }, 'deliver: batch given up unexpectedly');
      })
      .finally(() => {
        answered();
        underWay.delete(work);
        pump();
      });
    underWay.add(work);
  }

  return {
    revision: config.revision,
    offer(lanes) {
      for (const lane of lanes) ring.add(lane);
      pump();
    },
    reserveCapacity(lane, wanted) {
      if (closed || !isDirect || mustClaim || destination === undefined) return undefined;
      // Where others wait in line, what comes the short way takes turns with them.
      if (ring.size > 0 && handedInBetween) return undefined;
      const count = Math.min(wanted, room());
      if (count <= 0) return undefined;
      handedInBetween = true;
      waiting.reserve(count);
      const leaseEndsAtMs = clock.now() + leaseMs;
      return {
        count,
        leaseMs,
        async use(claims) {
          waiting.release(count);
          const leased = { lane, claims, leaseEndsAtMs, sinceMs: uptimeMs() };
          if (claims.length === 0) return pump();
          if (closed || mustClaim) return putBack(leased);
          waiting.add(leased);
          pump();
        },
      };
    },
    get isIdle() {
      const quiet = quietUntilMs - uptimeMs() > soonMs;
      return pumping === undefined && underWay.size === 0 && waiting.size === 0 && (ring.size === 0 || quiet);
    },
    get quietMs() {
      return Math.max(0, quietUntilMs - uptimeMs());
    },
    async close(signal) {
      closed = true;
      ring.clear();
      clearTimeout(timer);
      clearTimeout(gathering);
      const stop = () => stopping.abort();
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      await pumping;
      await putAllBack();
      await Promise.all(underWay);
      signal.removeEventListener('abort', stop);
      await destination?.close().catch(() => {});
    },
  };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
