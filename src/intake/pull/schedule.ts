import type { Log } from '../../kit/log.ts';

export interface SchedulerPorts {
  readonly log: Log;
  /** Resolves on a signal, after maxMs, or when stopped. */
  wait(maxMs: number, signal: AbortSignal): Promise<void>;
  /** Changes with the documents in force. */
  stamp(): string;
  /** Updates the stored schedules from the documents in force. */
  align(): Promise<void>;
  /** Queues due syncs, at most `most` at a time. */
  startDue(most: number): Promise<{ readonly started: number; readonly seen: number }>;
  msToNextStart(): Promise<number | undefined>;
  /** Signals the runners. */
  queued(): void;
}

const atOnce = 200;
/** Upper bound on sleep: another node may have changed the table, or this node's clock may be off. */
const longestSleepMs = 15_000;
/** Lower bound, so that starts close together are queued in one turn. */
const shortestSleepMs = 1_000;

/** Starts syncs when they are due. Every node runs a scheduler; rows are claimed, so each sync starts once. */
export function startScheduler(ports: SchedulerPorts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let aligned: string | undefined;
  const running = loop();

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const sleepMs = await turn().catch((error: Error) => {
        ports.log.warn({ error: error.message }, 'schedule: the store did not answer; retrying in 1 s');
        return shortestSleepMs;
      });
      await ports.wait(sleepMs, stopping.signal);
    }
  }

  async function turn(): Promise<number> {
    const stamp = ports.stamp();
    if (stamp !== aligned) await ports.align();
    aligned = stamp;
    for (;;) {
      const { started, seen } = await ports.startDue(atOnce);
      if (started > 0) ports.queued();
      if (seen < atOnce || stopping.signal.aborted) break;
    }
    const ms = (await ports.msToNextStart()) ?? longestSleepMs;
    return Math.min(longestSleepMs, Math.max(shortestSleepMs, ms));
  }

  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
