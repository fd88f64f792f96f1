import type { Log } from '../../kit/log.ts';

export interface SchedulerPorts {
  readonly log: Log;
  /** Resolves when there is a reason to look, after the time, or when stopped. */
  wait(maxMs: number, signal: AbortSignal): Promise<void>;
  /** Changes whenever the documents in force do. */
  stamp(): string;
  /** Makes the schedules say what the documents in force say. */
  align(): Promise<void>;
  /** Queues what is due, at most so many at once. */
  startDue(most: number): Promise<{ readonly started: number; readonly seen: number }>;
  msToNextStart(): Promise<number | undefined>;
  /** Tells runners that there is work. */
  queued(): void;
}

const atOnce = 200;
/** Another node may have changed the table, or the clock of this one may be off: it is looked at this often whatever it says. */
const longestSleepMs = 15_000;
/** Due times that lie close together are taken in one go. */
const shortestSleepMs = 1_000;

/** Starts syncs when they are due. Every node runs one; rows are claimed, so each start happens once. */
export function startScheduler(ports: SchedulerPorts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let aligned: string | undefined;
  const running = loop();

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const sleepMs = await turn().catch((error: Error) => {
        ports.log.warn({ error: error.message }, 'schedule: the store did not answer; tried again soon');
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
