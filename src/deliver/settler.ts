import type { DeliveryStore, LaneKey, Settlement } from './ports.ts';

/**
 * Writes settlements in groups: what arrives within a few milliseconds, or while a statement is under way, goes together in the
 * next one. Nobody waits for it: the slot of a call is free when its answer is there. A store
 * that does not answer is asked again until the leases are over; after that another node delivers the version anew, which
 * the idempotency key makes harmless.
 */
export interface Settler {
  settle(settlements: readonly Settlement[], leaseEndsAtMs: number): Promise<void>;
}

interface Waiting {
  readonly settlements: readonly Settlement[];
  readonly leaseEndsAtMs: number;
  readonly done: () => void;
}

const mostAtOnce = 2_000;
const gatherMs = 5;

export interface SettlerPorts {
  readonly store: Pick<DeliveryStore, 'settle'>;
  readonly clock: { now(): number; wait(ms: number): Promise<void> };
  readonly node: string;
  readonly onMore: (lanes: readonly LaneKey[]) => void;
  readonly onTrouble: (error: unknown, lost: number) => void;
  /** Aborted when this process cannot wait any longer. */
  readonly stopping: AbortSignal;
}

export function openSettler({ store, clock, node, onMore, onTrouble, stopping }: SettlerPorts): Settler {
  let queue: Waiting[] = [];
  let writing = false;

  async function write(): Promise<void> {
    writing = true;
    while (queue.length > 0) {
      await clock.wait(gatherMs);
      const group: Waiting[] = [];
      let size = 0;
      while (queue.length > 0 && size < mostAtOnce) {
        const next = queue.shift();
        if (next) size += next.settlements.length;
        if (next) group.push(next);
      }
      await writeGroup(group);
      for (const { done } of group) done();
    }
    writing = false;
  }

  async function writeGroup(group: readonly Waiting[]): Promise<void> {
    const settlements = group.flatMap((one) => one.settlements);
    const until = Math.max(...group.map((one) => one.leaseEndsAtMs));
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
      try {
        onMore(await store.settle(settlements, node));
        return;
      } catch (error) {
        const over = clock.now() >= until || stopping.aborted;
        onTrouble(error, over ? settlements.length : 0);
        if (over) return;
        await clock.wait(pauseMs);
      }
    }
  }

  return {
    settle(settlements, leaseEndsAtMs) {
      if (settlements.length === 0) return Promise.resolve();
      return new Promise((done) => {
        queue = [...queue, { settlements, leaseEndsAtMs, done }];
        if (!writing) void write();
      });
    },
  };
}
