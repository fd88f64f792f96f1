import { limitsOf } from './limits.ts';
import type { PullPorts } from './ports.ts';
import { executeRun, type RunOutcome } from './run.ts';
import type { Run } from './run-state.ts';

export interface RunnerPorts extends PullPorts {
  wait(topic: 'runs', maxMs: number, signal: AbortSignal): Promise<void>;
}

const sleepMs = 5_000;

/**
 * Executes runs, several side by side: queued ones, ones whose wait is over, ones that another node left. When stopped, what is
 * under way is given back at its last page and goes on elsewhere.
 */
export function startRunner(ports: RunnerPorts, { atOnce = 8 } = {}): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const going = new Set<Promise<void>>();
  const running = loop();

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const run = going.size < atOnce ? await claim() : undefined;
      if (run !== undefined) {
        const work = execute(run).finally(() => going.delete(work));
        going.add(work);
        continue;
      }
      const woken = ports.wait('runs', sleepMs, stopping.signal);
      await (going.size < atOnce ? woken : Promise.race(going));
    }
    await Promise.all(going);
  }

  async function claim(): Promise<Run | undefined> {
    try {
      return await ports.runs.claimNext(ports.node, limitsOf(ports).leaseMs);
    } catch (error) {
      ports.log.warn({ error: (error as Error).message }, 'runs: the store did not answer; tried again soon');
      await ports.clock.wait(1_000, stopping.signal);
      return undefined;
    }
  }

  async function execute(run: Run): Promise<void> {
    const startedAt = ports.clock.now();
    const about = { integration: run.integration, run: run.runId, sync: run.sync ?? 'backfill', kind: run.kind };
    try {
      const outcome = await executeRun(ports, run, { parkable: true, signal: stopping.signal });
      logOutcome(ports, about, outcome, ports.clock.now() - startedAt);
    } catch (error) {
      // The lease runs out, and the run goes on at its last page, here or elsewhere.
      ports.log.error({ ...about, error: (error as Error).message }, 'run: broken off; it goes on when its lease ends');
    }
  }

  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

function logOutcome(ports: PullPorts, about: object, outcome: RunOutcome, durationMs: number): void {
  if (outcome.kind !== 'finished') {
    ports.log.info({ ...about, ...outcome, duration_ms: durationMs }, `run: ${outcome.kind}`);
    return;
  }
  const { end, counters } = outcome;
  const line = {
    ...about,
    state: end.state,
    ...(end.code !== undefined && { code: end.code, reason: end.message }),
    ...counters,
    duration_ms: durationMs,
  };
  if (end.state === 'complete') ports.log.info(line, 'run: complete');
  else ports.log.warn(line, `run: ${end.state}`);
}
