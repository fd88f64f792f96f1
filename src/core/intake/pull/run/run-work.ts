import { repeat } from '../../../../kit/clock.ts';
import type { Asker } from '../../../outbound/ask/asking.ts';
import type { ShownExchange } from '../../../outbound/ask/exchange.ts';
import type { WaitReason } from '../../../outbound/ask/ports.ts';
import { limitsOf, type PullPlan, type PullPorts } from '../ports.ts';
import { type Counters, noCounts, type Run, sum } from './run-state.ts';

/** What the work on a run needs. */
export interface RunContext {
  readonly ports: PullPorts;
  readonly plan: PullPlan;
  readonly run: Run;
  readonly asker: Asker;
}

/** One node's work on a run, with its lease and counters. */
export interface RunWork extends RunContext {
  readonly lease: RunLease;
  readonly counters: RunCounters;
  lastRequest?: ShownExchange;
}

type RunLease = ReturnType<typeof leaseOn>;

/** This node's lease on a run: extended while the work runs, and lost once another node has taken the run over. */
export function leaseOn(ports: PullPorts, run: Run) {
  const abort = new AbortController();
  const { leaseMs } = limitsOf(ports);
  const lease = {
    /** Aborted when the lease is lost, the process stops or the work is over. */
    signal: abort.signal,
    isLost: false,
    /** Why the run is waiting, if it is; stored with each extension. */
    waiting: undefined as WaitReason | undefined,
    lose() {
      lease.isLost = true;
      abort.abort();
    },
    /** Runs the work under the lease. */
    async during<T>(stopping: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
      const stop = () => abort.abort();
      if (stopping?.aborted) stop();
      stopping?.addEventListener('abort', stop, { once: true });
      const stopBeat = repeat(ports.clock, leaseMs / 3, async () => {
        // If the store does not answer, the lease runs out by itself and the next commit is refused.
        if (!(await ports.runs.extend(run, leaseMs, lease.waiting).catch(() => true))) lease.lose();
      });
      try {
        return await work();
      } finally {
        stopBeat();
        stop();
        stopping?.removeEventListener('abort', stop);
      }
    },
  };
  return lease;
}

/** The counters of a run: the stored ones, and those counted since, which the next write stores. */
export class RunCounters {
  #stored: Counters;
  pending: Counters = noCounts;

  constructor(stored: Counters) {
    this.#stored = stored;
  }

  get total(): Counters {
    return sum(this.#stored, this.pending);
  }

  get hasPages(): boolean {
    return this.#stored.pages > 0;
  }

  add(counts: Partial<Counters>): void {
    this.pending = sum(this.pending, counts);
  }

  /** Takes the pending counts out, to be written with a page. */
  take(): Counters {
    const { pending } = this;
    this.pending = noCounts;
    return pending;
  }

  stored(counts: Partial<Counters>): void {
    this.#stored = sum(this.#stored, counts);
  }
}
