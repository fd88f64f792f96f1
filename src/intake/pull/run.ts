import { Execution } from './execution.ts';
import type { PullPorts } from './ports.ts';
import { askedRange, startOf } from './range.ts';
import { type Counters, noCounts, type Position, type Run, type RunEnd, type WaitReason } from './run-state.ts';
import { changesOf, feedOf } from './since.ts';
import { failedEnd } from './turn.ts';

export type RunOutcome =
  | { readonly kind: 'finished'; readonly end: RunEnd; readonly counters: Counters }
  /** Waiting until the next request to the partner is allowed. */
  | { readonly kind: 'parked'; readonly ms: number; readonly reason: WaitReason }
  /** Another node has the run. */
  | { readonly kind: 'fenced' }
  /** The process is shutting down; the run is returned to the queue. */
  | { readonly kind: 'stopped' };

export interface Progress {
  readonly position: Position;
  readonly counters: Counters;
  readonly waiting?: { readonly reason: WaitReason; readonly ms: number };
}

export interface RunOptions {
  /** Long waits park the run instead of holding its slot. */
  readonly parkable: boolean;
  /** False for a run that somebody else queued: while the partner cannot be reached, it is returned to the queue instead of ended. */
  readonly ownsRun?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Executes a claimed run until it ends, is parked, or is stopped. */
export async function executeRun(ports: PullPorts, run: Run, options: RunOptions): Promise<RunOutcome> {
  const endAtOnce = async (end: RunEnd): Promise<RunOutcome> =>
    (await ports.runs.finish(run, end, noCounts))
      ? { kind: 'finished', end, counters: run.counters }
      : { kind: 'fenced' };
  const planned = await ports.plan(run.integration);
  if (planned.kind === 'unavailable') return endAtOnce(failedEnd(planned.code, planned.message));
  const { plan } = planned;
  const { connectorVersion, integrationVersion } = plan.target;
  // A position is only valid under the documents it was reached with.
  const isSame = run.connectorVersion === connectorVersion && run.integrationVersion === integrationVersion;
  if (isSame && run.position !== undefined) return new Execution(ports, plan, run, options).run(run.position);
  const now = ports.clock.now();
  const changes = await changesOf(ports, run, plan.settings, now);
  const ranged = startOf(run, plan.settings, now, changes);
  if (ranged.kind === 'invalid') return endAtOnce(failedEnd(ranged.code, ranged.message));
  // A requested range does not prove that everything since the last run was read, so it does not move the watermark.
  const isScheduled = askedRange(run) === undefined;
  const position = {
    ...ranged.position,
    ...(changes && isScheduled && { startedAt: now, feed: feedOf(plan.settings) }),
  };
  if (!(await ports.runs.start(run, position, plan.target))) return { kind: 'fenced' };
  return new Execution(ports, plan, { ...run, counters: noCounts }, options).run(position);
}
