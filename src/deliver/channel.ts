import { type Counts, deliverBatch } from './batch.ts';
import type { Destination } from './destination.ts';
import { LaneRing } from './lane-ring.ts';
import type { Claimed, DeliverPorts, DestinationConfig, Lane } from './ports.ts';
import type { Settler } from './settler.ts';

/**
 * One destination on this node: so many calls side by side and no more, its brands in turn. Nothing here waits for another
 * destination, so that a slow or dead one delays only itself.
 *
 * A claim is made only when a call can start at once, and a call ends before its lease does: two calls for one record never
 * run at the same time, on any number of nodes. Only a process that is stopped for longer than the margin and then goes on
 * can break that; the version in the message tells the destination which one is newer.
 */
export interface Channel {
  readonly revision: string;
  /** These lanes have due work. */
  offer(lanes: readonly Lane[]): void;
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
const gatherMs = 10;
const soonMs = 2_000;

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
  const ring = new LaneRing();
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();
  let free = config.concurrency;
  let quietUntilMs = 0;
  let closed = false;
  let pumping: Promise<void> | undefined;
  let pumpAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let claimedAtMs = 0;
  let gathering: NodeJS.Timeout | undefined;
  let destination: Destination | undefined;

  function beQuiet(ms: number): void {
    quietUntilMs = Math.max(quietUntilMs, uptimeMs() + ms);
    clearTimeout(timer);
    if (!closed) timer = setTimeout(pump, quietUntilMs - uptimeMs() + 2);
  }

  function pump(): void {
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
   * Answers come one by one, and a claim costs the database about the same for one record as for some: where calls are under way,
   * the next claim waits until half of the slots are free, though not for long. Answers that are not written down yet take no
   * slot, but there is an end to them.
   */
  function hasRoom(): boolean {
    if (underWay.size === 0) return true;
    if (free === 0 || underWay.size >= 2 * config.concurrency) return false;
    return free * 2 >= config.concurrency || uptimeMs() >= claimedAtMs + gatherMs;
  }

  function gathered(): void {
    gathering = undefined;
    pump();
  }

  /** Starts calls until no slot is free or nothing is due. */
  async function fill(): Promise<void> {
    while (!closed && hasRoom() && ring.size > 0 && uptimeMs() >= quietUntilMs) {
      const opened = await opening();
      if (opened === undefined) return;
      const lane = ring.next();
      if (lane === undefined) return;
      let calls = Math.max(1, Math.floor(free / ring.size));
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
      for (let start = 0; start < claims.length; start += config.batch) {
        call(opened, lane, claims.slice(start, start + config.batch), leaseEndsAtMs);
      }
      const unused = calls - Math.ceil(claims.length / config.batch);
      if (config.rate && unused > 0) await store.takeBudget(config.name, -unused, config.rate);
    }
    if (!closed && free > 0 && ring.size > 0) gathering ??= setTimeout(gathered, gatherMs);
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

  function call(opened: Destination, lane: Lane, claims: readonly Claimed[], leaseEndsAtMs: number): void {
    free -= 1;
    let isAnswered = false;
    const answered = (): void => {
      if (isAnswered) return;
      isAnswered = true;
      free += 1;
      pump();
    };
    const context = { ports, config, destination: opened, settler, leaseMs, stopping: stopping.signal, answered };
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
    get isIdle() {
      const quiet = quietUntilMs - uptimeMs() > soonMs;
      return pumping === undefined && underWay.size === 0 && (ring.size === 0 || quiet);
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
      await Promise.all(underWay);
      signal.removeEventListener('abort', stop);
      await destination?.close().catch(() => {});
    },
  };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
