import type { Reservation } from '../../canonical/reservation.ts';
import type { Arrival, Prepared } from '../../reconcile/incoming.ts';
import type { RawRecord } from '../../shape/shape.ts';
import type { EpochMs } from '../../terms.ts';
import type { Row } from './page.ts';
import type { PullPlan } from './ports.ts';
import { askedRange } from './range.ts';
import type { Counters, Position, Run, StagedRow } from './run-state.ts';
import { type Selection, selectionFor } from './select.ts';

export interface MadePage {
  readonly prepared: readonly Prepared[];
  readonly staged: readonly StagedRow[];
  readonly counted: Partial<Counters>;
}

/** Rows to records, through the path, and only those that the run is for. Flat rows are put aside until all have come. */
export function preparePage(
  plan: PullPlan,
  run: Run,
  position: Position,
  rows: readonly Row[],
  requestedAt: EpochMs,
): MadePage {
  if (plan.shaper.flat) {
    const staged = rows.map(({ raw }) => ({ key: raw.key, row: raw.value, requestedAt }));
    return { prepared: [], staged, counted: {} };
  }
  const raws = rows.map(({ raw }) => raw);
  return { ...prepareRecords(plan, run, position, raws, requestedAt), staged: [] };
}

export function prepareRecords(
  plan: PullPlan,
  run: Run,
  position: Position,
  raws: readonly RawRecord[],
  effectiveAt: EpochMs,
): { prepared: Prepared[]; counted: Partial<Counters> } {
  const arrival: Arrival = { mode: 'pull', effectiveAt, cause: 'run', causeId: run.runId };
  const isWanted: Selection = selectionFor(run.sync, position.today, askedRange(run));
  const prepared: Prepared[] = [];
  for (const raw of raws) {
    const one = plan.prepare(raw, arrival);
    if (one.kind === 'record' && !isWanted(one.incoming.record as Reservation)) continue;
    prepared.push(one);
  }
  return { prepared, counted: { fetched: raws.length, skipped: raws.length - prepared.length } };
}
