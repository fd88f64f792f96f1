import { errorFacts } from '../../../../kit/log.ts';
import { type Heartbeats, type Loop, startLoop } from '../../../../kit/loop.ts';
import type { Tracer } from '../../../../kit/trace.ts';
import { limitsOf, type PullPorts } from '../ports.ts';
import { executeRun } from './execution.ts';
import type { Run, RunOutcome } from './run-state.ts';

export interface RunnerPorts extends PullPorts {
  readonly heartbeats?: Heartbeats;
  wait(topic: 'runs', maxMs: number, signal: AbortSignal): Promise<void>;
}

const sleepMs = 5_000;

/**
 * Executes runs, several at a time: queued runs, parked runs whose wait is over, and runs abandoned by another node. On stop,
 * each run is returned to the queue after its last page and continues elsewhere.
 */
export function startRunner(ports: RunnerPorts, { atOnce = 8 } = {}): Loop {
  const active = new Set<Promise<void>>();

  async function execute(run: Run, signal: AbortSignal): Promise<void> {
    const startedAt = ports.clock.now();
    const about = { integration: run.integration, run: run.runId, sync: run.sync ?? 'backfill', kind: run.kind };
    try {
      const outcome = await traced(ports.tracer, run, (one) => executeRun(ports, one, { parkable: true, signal }));
      logOutcome(ports, about, outcome, ports.clock.now() - startedAt);
    } catch (error) {
      // Once the lease runs out, any node resumes the run after its last page.
      ports.log.error({ ...about, error: errorFacts(error) }, 'run: interrupted; it resumes when its lease ends');
    }
  }

  return startLoop({
    name: 'runs',
    heartbeats: ports.heartbeats,
    turn: async (signal): Promise<'started' | 'nothing due'> => {
      const room = atOnce - active.size;
      const runs = room > 0 ? await ports.runs.claimDue(room, ports.node, limitsOf(ports).leaseMs) : [];
      for (const run of runs) {
        const work = execute(run, signal).finally(() => active.delete(work));
        active.add(work);
      }
      return runs.length > 0 ? 'started' : 'nothing due';
    },
    pause: async (result, signal) => {
      if (result === 'started') return;
      if (result === undefined) await ports.clock.wait(1_000, signal);
      else await (active.size < atOnce ? ports.wait('runs', sleepMs, signal) : Promise.race(active));
    },
    onError: (error) => ports.log.warn({ error: errorFacts(error) }, 'runs: the store did not answer; retrying in 1 s'),
    finish: () => Promise.all(active),
  });
}

/** All work on a run is one trace, on any number of nodes: its id is derived from the run's. */
async function traced(
  tracer: Tracer | undefined,
  run: Run,
  work: (run: Run) => Promise<RunOutcome>,
): Promise<RunOutcome> {
  if (tracer === undefined) return work(run);
  const { integration, runId, sync = 'backfill' } = run;
  const attributes = { 'innbound.integration': integration, 'innbound.run': runId, 'innbound.sync': sync };
  const span = tracer.start('run', { kind: 'internal', traceOf: `${integration} ${runId}`, attributes });
  let outcome: RunOutcome | undefined;
  try {
    outcome = await work({ ...run, trace: span.traceparent });
    return outcome;
  } finally {
    const end = outcome?.kind === 'finished' ? outcome.end : undefined;
    span.end({ 'innbound.outcome': end?.state ?? outcome?.kind ?? 'interrupted' }, end?.code);
  }
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
