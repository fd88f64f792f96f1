import type { Clock } from '../../kit/clock.ts';
import { latencyBoundsMs, latencyBucket } from '../../kit/histogram.ts';
import type { Lease } from './claiming.ts';
import type { DeliveryStore, LaneKey, Settlement } from './ports.ts';
import { profilesDestination } from './profiles.ts';

/**
 * Writes settlements in groups: those that arrive while a statement runs share the next one. Calls do not wait for it; their slots are
 * free once the answer is there. If the store fails, the group is retried until its leases have expired. After that another node
 * delivers the versions again, which the idempotency key makes harmless.
 */
export interface Settler {
  settle(settlements: readonly Settlement[], lease: Pick<Lease, 'leftMs'>): Promise<void>;
}

interface Submitted {
  readonly settlements: readonly Settlement[];
  readonly lease: Pick<Lease, 'leftMs'>;
  readonly done: () => void;
}

const mostAtOnce = 2_000;

interface SettlerPorts {
  readonly store: Pick<DeliveryStore, 'settle'>;
  readonly clock: Pick<Clock, 'wait'>;
  readonly node: string;
  /** Called with the lanes in which a settled record has a further version to send. */
  readonly onMore: (lanes: readonly LaneKey[]) => void;
  /** `lost` counts the settlements that are given up. */
  readonly onFailure: (error: unknown, lost: number) => void;
  /** Aborted when this process cannot wait any longer. */
  readonly stopping: AbortSignal;
}

export function openSettler({ store, clock, node, onMore, onFailure, stopping }: SettlerPorts): Settler {
  const queue: Submitted[] = [];
  let isWriting = false;

  async function write(): Promise<void> {
    isWriting = true;
    while (queue.length > 0) {
      const group: Submitted[] = [];
      let size = 0;
      while (queue.length > 0 && size < mostAtOnce) {
        const next = queue.shift();
        if (next) size += next.settlements.length;
        if (next) group.push(next);
      }
      await writeGroup(group);
      for (const { done } of group) done();
    }
    isWriting = false;
  }

  async function writeGroup(group: readonly Submitted[]): Promise<void> {
    const settlements = group.flatMap((one) => one.settlements);
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
      try {
        onMore(await store.settle(settlements, node));
        return;
      } catch (error) {
        const isOver = group.every(({ lease }) => lease.leftMs <= 0) || stopping.aborted;
        onFailure(error, isOver ? settlements.length : 0);
        if (isOver) return;
        await clock.wait(pauseMs);
      }
    }
  }

  return {
    settle(settlements, lease) {
      if (settlements.length === 0) return Promise.resolve();
      return new Promise((done) => {
        queue.push({ settlements, lease, done });
        if (!isWriting) void write();
      });
    },
  };
}

/** What this node delivered for a brand in ten seconds. */
interface Tallied {
  readonly integration: string;
  /** The start of the ten seconds. */
  readonly at: number;
  delivered: number;
  retried: number;
  dead: number;
  /** From a change to its delivery, see latencyBoundsMs. */
  readonly latency: number[];
}

const tallyStepMs = 10_000;

/**
 * Counts in memory what was settled, so that a delivery costs no row of a log. A killed node loses the counts of its last seconds, no
 * delivery.
 */
export class DeliveryTally {
  readonly #counts = new Map<string, Tallied>();
  #deliveredTo = new Map<string, number>();

  add(settlements: readonly Settlement[], nowMs: number): void {
    for (const { integration, destination, result, changedAt } of settlements) {
      if (destination === profilesDestination || result.kind === 'skipped') continue;
      const counts = this.#of(integration, nowMs - (nowMs % tallyStepMs));
      if (result.kind === 'retry') counts.retried += 1;
      else counts[result.kind] += 1;
      if (result.kind !== 'delivered') continue;
      this.#deliveredTo.set(destination, nowMs);
      const bucket = latencyBucket(nowMs - (changedAt ?? nowMs));
      counts.latency[bucket] = (counts.latency[bucket] ?? 0) + 1;
    }
  }

  /** Removes and returns the counts of the steps that have ended; of all steps without a time. */
  take(nowMs = Number.POSITIVE_INFINITY): Tallied[] {
    const ended = [...this.#counts].filter(([, { at }]) => at + tallyStepMs <= nowMs);
    for (const [key] of ended) this.#counts.delete(key);
    return ended.map(([, counts]) => counts);
  }

  /** Removes and returns when each destination last accepted something. */
  takeDestinations(): Map<string, number> {
    const taken = this.#deliveredTo;
    this.#deliveredTo = new Map();
    return taken;
  }

  #of(integration: string, at: number): Tallied {
    const key = `${at} ${integration}`;
    const known = this.#counts.get(key);
    if (known) return known;
    const latency = new Array<number>(latencyBoundsMs.length + 1).fill(0);
    const counts = { integration, at, delivered: 0, retried: 0, dead: 0, latency };
    this.#counts.set(key, counts);
    return counts;
  }
}
