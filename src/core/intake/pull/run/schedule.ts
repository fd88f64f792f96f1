import type { Log } from '../../../../kit/log.ts';
import { errorFacts } from '../../../../kit/log.ts';
import { type Heartbeats, type Loop, startLoop } from '../../../../kit/loop.ts';

export interface SchedulerPorts {
  readonly log: Log;
  readonly heartbeats?: Heartbeats;
  /** Resolves on a signal, after maxMs, or when stopped. */
  wait(maxMs: number, signal: AbortSignal): Promise<void>;
  /** The documents in force: another object after a change. */
  documents(): object;
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
export function startScheduler(ports: SchedulerPorts): Loop {
  let aligned: object | undefined;

  async function turn(signal: AbortSignal, beat: () => void): Promise<number> {
    const documents = ports.documents();
    if (documents !== aligned) await ports.align();
    aligned = documents;
    for (;;) {
      const { started, seen } = await ports.startDue(atOnce);
      beat();
      if (started > 0) ports.queued();
      if (seen < atOnce || signal.aborted) break;
    }
    const ms = (await ports.msToNextStart()) ?? longestSleepMs;
    return Math.min(longestSleepMs, Math.max(shortestSleepMs, ms));
  }

  return startLoop({
    name: 'schedules',
    heartbeats: ports.heartbeats,
    turn,
    pause: (sleepMs, signal) => ports.wait(sleepMs ?? shortestSleepMs, signal),
    onError: (error) =>
      ports.log.warn({ error: errorFacts(error) }, 'schedule: the store did not answer; retrying in 1 s'),
  });
}
