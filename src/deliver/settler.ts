import type { Clock } from '../kit/clock.ts';
import type { Lease } from './lease.ts';
import type { DeliveryStore, Settlement } from './ports.ts';
import type { LaneKey } from './queued-lanes.ts';

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

export interface SettlerPorts {
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
