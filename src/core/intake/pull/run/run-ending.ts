import { planFor } from '../page/page.ts';
import { formStaged } from './form.ts';
import type { Position, RunEnd, RunOutcome, WindowFinding } from './run-state.ts';
import type { RunContext, RunWork } from './run-work.ts';
import { concluded, type Turn } from './turn.ts';
import { followUp, unlistedIn } from './unlisted.ts';

/**
 * How a node's work on a run ends. The run is written only while this node holds its lease; otherwise the outcome is `fenced`.
 *
 * All windows were read and written: forms what was staged, follows up what was not listed, and finishes the run. `failure`: of an
 * acknowledgement.
 */
export async function conclude(
  work: RunWork,
  position: Position,
  {
    isResumedAtEnd,
    failure,
  }: { readonly isResumedAtEnd: boolean; readonly failure: Pick<WindowFinding, 'code' | 'message'> | undefined },
): Promise<RunOutcome> {
  const { counters, lease } = work;
  const { from, to } = position;
  const missing = [];
  // At a resumed end, some of the staged rows that show what was listed may have been grouped and deleted already.
  for (const context of isResumedAtEnd ? [] : brandsOf(work)) {
    const property = work.plan.routing && context.plan.settings.brandId;
    const unlisted = await unlistedIn(context, position, property);
    if (unlisted.missing.length > 0) missing.push({ context, unlisted });
  }
  const formed = await formStaged(work, position, lease.signal);
  if (formed.kind !== 'ok') return leave(work, formed);
  counters.stored(formed.counters);
  for (const { context, unlisted } of missing) {
    const followed = await followUp(context, position, unlisted);
    if (followed.kind === 'fenced') return { kind: 'fenced' };
    counters.stored(followed.counters);
  }
  const findings = [...position.findings];
  if (formed.heldBack > 0) {
    const [many, was] = formed.heldBack === 1 ? ['1 reservation', 'was'] : [`${formed.heldBack} reservations`, 'were'];
    const message = `${many} arrived with fewer rooms than stored and ${was} held back.`;
    findings.push({ code: 'pull.group_cut', from, to, message });
  }
  if (failure) findings.push({ ...failure, from, to });
  return finish(work, concluded({ ...position, findings }));
}

/** Ends the run with an error, parks it until the partner may be asked again, or gives it back. */
export async function leave(work: RunWork, turn: Exclude<Turn, { kind: 'move' }>): Promise<RunOutcome> {
  const { run, ports, counters, lease } = work;
  if (turn.kind === 'end') return finish(work, turn.end);
  if (lease.isLost) return { kind: 'fenced' };
  if (turn.kind === 'stop') {
    const isHeld = await ports.runs.park(run, counters.pending, { afterMs: 0 });
    return isHeld ? { kind: 'stopped' } : { kind: 'fenced' };
  }
  const { ms, reason, position } = turn;
  counters.add({ waitedMs: ms });
  const isHeld = await ports.runs.park(run, counters.pending, { afterMs: ms, waiting: reason, position });
  return isHeld ? { kind: 'parked', ms, reason } : { kind: 'fenced' };
}

/** The brands that the run serves. */
function brandsOf({ plan, ...work }: RunWork): RunContext[] {
  return [plan, ...(plan.routing?.brands ?? []).map((brand) => planFor(plan, brand))].map((one) => ({
    ...work,
    plan: one,
  }));
}

async function finish({ ports, run, counters, lease, lastRequest }: RunWork, ended: RunEnd): Promise<RunOutcome> {
  const end = lastRequest ? { ...ended, request: lastRequest } : ended;
  const total = counters.total;
  const isHeld = !lease.isLost && (await ports.runs.finish(run, end, counters.pending));
  return isHeld ? { kind: 'finished', end, counters: total } : { kind: 'fenced' };
}
