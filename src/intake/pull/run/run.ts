import type { PullPorts } from '../ports.ts';
import { listRequestOf, noList } from '../request/list-request.ts';
import { askedRange, startOf } from '../window/range.ts';
import { changesOf, feedOf } from '../window/since.ts';
import { Execution } from './execution.ts';
import type { RunOptions, RunOutcome } from './run-state.ts';
import { noCounts, type Run, type RunEnd } from './run-state.ts';
import { failedEnd } from './turn.ts';

/** Executes a claimed run until it ends, is parked, or is stopped. */
export async function executeRun(ports: PullPorts, run: Run, options: RunOptions): Promise<RunOutcome> {
  const endAtOnce = async (end: RunEnd): Promise<RunOutcome> =>
    (await ports.runs.finish(run, end, noCounts))
      ? { kind: 'finished', end, counters: run.counters }
      : { kind: 'fenced' };
  const planned = await ports.plan(run.integration);
  if (planned.kind === 'unavailable') return endAtOnce(failedEnd(planned.code, planned.message));
  const { plan } = planned;
  if (listRequestOf(plan.settings, run) === undefined) return endAtOnce(failedEnd(noList.code, noList.message));
  const { connectorVersion, integrationVersion } = plan.brand;
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
  if (!(await ports.runs.start(run, position, plan.brand))) return { kind: 'fenced' };
  return new Execution(ports, plan, { ...run, counters: noCounts }, options).run(position);
}
