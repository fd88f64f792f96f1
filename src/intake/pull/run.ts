import { Execution } from './execution.ts';
import type { PullPorts } from './ports.ts';
import { startOf } from './range.ts';
import { type Counters, noCounts, type Position, type Run, type RunEnd, type Waiting } from './run-state.ts';
import { failedEnd } from './turn.ts';

export type RunOutcome =
  | { readonly kind: 'finished'; readonly end: RunEnd; readonly counters: Counters }
  /** Given back until the partner can be asked again. */
  | { readonly kind: 'parked'; readonly ms: number; readonly reason: Waiting }
  /** Another node has it. */
  | { readonly kind: 'fenced' }
  /** We are being shut down; the run was given back. */
  | { readonly kind: 'stopped' };

export interface Progress {
  readonly position: Position;
  readonly counters: Counters;
  readonly waiting?: { readonly reason: Waiting; readonly ms: number };
}

export interface RunOptions {
  /** Long waits give the run back instead of holding the place. */
  readonly parkable: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Runs a claimed run to its end, or until it has to be given back. */
export async function executeRun(ports: PullPorts, run: Run, options: RunOptions): Promise<RunOutcome> {
  const unable = async (end: RunEnd): Promise<RunOutcome> =>
    (await ports.runs.finish(run, end, noCounts))
      ? { kind: 'finished', end, counters: run.counters }
      : { kind: 'fenced' };
  const planned = await ports.plan(run.integration);
  if (planned.kind === 'unavailable') return unable(failedEnd(planned.code, planned.message));
  const { plan } = planned;
  const { connectorVersion, integrationVersion } = plan.target;
  // A position means something only together with the documents that it was reached under.
  const isSame = run.connectorVersion === connectorVersion && run.integrationVersion === integrationVersion;
  if (isSame && run.position !== undefined) return new Execution(ports, plan, run, options).run(run.position);
  const ranged = startOf(run, plan.settings, ports.clock.now());
  if (ranged.kind === 'invalid') return unable(failedEnd(ranged.code, ranged.message));
  if (!(await ports.runs.start(run, ranged.position, plan.target))) return { kind: 'fenced' };
  return new Execution(ports, plan, { ...run, counters: noCounts }, options).run(ranged.position);
}
