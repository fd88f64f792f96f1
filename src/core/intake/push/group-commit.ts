import { type Clock, repeat, type Timers } from '../../../kit/clock.ts';
import type { NewEvent, StoreResult } from './ports.ts';

/**
 * Waiting requests share one insert and one fsync. Requests that arrive while a batch is written form the next batch, so
 * batches grow with the load and a single request does not wait. One batch is written at a time, so that sequence numbers,
 * which order events of the same instant, follow the order of arrival; the next batch may be written while this one is
 * flushed to disk (bench/mechanisms.md, 1).
 */
export interface GroupCommitPorts {
  readonly clock: Clock & Timers;
  /** One transaction; throws when the store is unreachable. Calls `written` when only the commit is left. */
  readonly insert: (events: readonly NewEvent[], written: () => void) => Promise<readonly StoreResult[]>;
  /** Called after each batch that stored an event and did not apply it, to wake the worker. */
  readonly stored?: () => void;
  readonly onError?: (error: unknown) => void;
  /** Runs after this turn of the event loop; setImmediate by default. */
  readonly soon?: (run: () => void) => void;
}

export interface GroupCommitLimits {
  readonly maxBatch: number;
  readonly maxBatchBytes: number;
  /** Batches in progress, from the first byte to the end of the commit; each uses a connection. */
  readonly maxUnderWay: number;
  /** Requests beyond these limits are refused at once, to bound memory. */
  readonly maxWaiting: number;
  readonly maxWaitingBytes: number;
  /** After this the sender gets 503; if the event is stored after all, the sender's retry is a duplicate. */
  readonly deadlineMs: number;
}

export const groupCommitLimits: GroupCommitLimits = {
  maxBatch: 512,
  maxBatchBytes: 4 * 1024 * 1024,
  maxUnderWay: 2,
  maxWaiting: 20_000,
  maxWaitingBytes: 128 * 1024 * 1024,
  deadlineMs: 10_000,
};

export type Appended =
  | StoreResult
  | { readonly kind: 'unavailable'; readonly reason: 'store_unreachable' | 'store_slow' | 'backlog_full' };

interface QueuedEvent {
  readonly event: NewEvent;
  readonly since: number;
  settle: ((appended: Appended) => void) | undefined;
}

export function openGroupCommit(ports: GroupCommitPorts, limits = groupCommitLimits) {
  let queue: QueuedEvent[] = [];
  /** Requests without an answer, in the queue and in batches in progress. */
  const open = new Set<QueuedEvent>();
  let openBytes = 0;
  let running: Promise<void> | undefined;

  const settle = (one: QueuedEvent, appended: Appended) => {
    if (one.settle === undefined) return;
    open.delete(one);
    openBytes -= one.event.rawBody.length;
    one.settle(appended);
    one.settle = undefined;
  };

  const refuseLate = () => {
    const late = ports.clock.uptimeMs() - limits.deadlineMs;
    for (const one of open) {
      if (one.since > late) break;
      settle(one, { kind: 'unavailable', reason: 'store_slow' });
    }
  };
  const stopDeadlines = repeat(ports.clock, Math.min(500, limits.deadlineMs), refuseLate, { background: true });

  const underWay = new Set<Promise<void>>();
  const run = async () => {
    while (queue.length > 0) {
      const batch = takeBatch();
      if (batch.length === 0) continue;
      const { promise: written, resolve } = Promise.withResolvers<void>();
      const committed = commit(batch, resolve).finally(() => underWay.delete(committed));
      underWay.add(committed);
      await Promise.race([written, committed]);
      while (underWay.size >= limits.maxUnderWay) await Promise.race(underWay);
    }
    running = undefined;
  };

  const takeBatch = (): QueuedEvent[] => {
    let bytes = 0;
    let count = 0;
    for (; count < queue.length && count < limits.maxBatch; count++) {
      bytes += queue[count]?.event.rawBody.length ?? 0;
      if (count > 0 && bytes > limits.maxBatchBytes) break;
    }
    const batch = queue.slice(0, count);
    queue = queue.slice(count);
    // Requests already answered with 503 are skipped: the sender's retry contains the event again.
    return batch.filter((one) => one.settle !== undefined);
  };

  const commit = async (batch: QueuedEvent[], written: () => void) => {
    try {
      const stored = await ports.insert(
        batch.map((one) => one.event),
        written,
      );
      for (const [i, one] of batch.entries())
        settle(one, stored[i] ?? { kind: 'unavailable', reason: 'store_unreachable' });
      if (stored.some((one) => one.kind === 'stored' && !one.isApplied)) ports.stored?.();
    } catch (error) {
      ports.onError?.(error);
      for (const one of batch) settle(one, { kind: 'unavailable', reason: 'store_unreachable' });
    }
  };

  return {
    append(event: NewEvent): Promise<Appended> {
      if (open.size >= limits.maxWaiting || openBytes + event.rawBody.length > limits.maxWaitingBytes) {
        return Promise.resolve({ kind: 'unavailable', reason: 'backlog_full' });
      }
      return new Promise((settle) => {
        const one: QueuedEvent = { event, since: ports.clock.uptimeMs(), settle };
        open.add(one);
        openBytes += event.rawBody.length;
        queue.push(one);
        // Starts after this turn of the event loop, so that requests read together are stored together.
        running ??= new Promise<void>((begun) => (ports.soon ?? setImmediate)(begun)).then(run);
      });
    },
    /** Resolves when no request is waiting. */
    async flushed(): Promise<void> {
      while (running || underWay.size > 0) await Promise.all([running, ...underWay]);
    },
    close: stopDeadlines,
  };
}
