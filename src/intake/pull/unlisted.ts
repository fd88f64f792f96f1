import type { Reservation } from '../../canonical/reservation.ts';
import type { ErrorCode } from '../../errors.ts';
import type { Arrival, Prepared } from '../../reconcile/incoming.ts';
import type { EpochMs } from '../../terms.ts';
import { type Asker, noAskCounts } from './ask.ts';
import type { AskCounts } from './asked.ts';
import { limitsOf } from './limits.ts';
import { asksByDays } from './list-request.ts';
import type { PullPlan, PullPorts, UnlistedNote, UnlistedRow } from './ports.ts';
import { rowIdentity } from './routing.ts';
import { type Counters, noCounts, type Position, type Run, sum } from './run-state.ts';
import { listsChanges, selectionOf } from './select.ts';
import { askSingle } from './single.ts';

/** What the work on a run needs. */
export interface RunContext {
  readonly ports: PullPorts;
  readonly plan: PullPlan;
  readonly run: Run;
  readonly asker: Asker;
}

/** The most requests of one run for reservations that its lists no longer show; the next run continues. */
const mostAsked = 100;

/** So many at once are an accident, whatever else the list shows: the store reports no more of them. */
const massRows = 500;

/**
 * The reservations that a complete run should have listed and did not. Empty if the run did not read everything, or if its list
 * filters by status and the connector has no single request to check the missing ones.
 */
export async function unlistedIn(
  { ports, plan, run }: RunContext,
  position: Position,
  property?: string,
): Promise<readonly UnlistedRow[]> {
  const { settings, shaper } = plan;
  // For a list without dates, or of changes only, it is unknown which reservations it should show.
  if (position.findings.length > 0 || listsChanges(settings, position) || !asksByDays(settings, run)) return [];
  const isFiltered = run.sync !== undefined && settings.syncs[run.sync]?.status !== undefined;
  if (isFiltered && settings.single === undefined) return [];
  const rows = await ports.runs.unlisted(run, position, {
    target: plan.target,
    isFlat: shaper.flat,
    identity: (key) => rowIdentity(key, property),
  });
  const isWanted = selectionOf(run, settings, position);
  return rows.filter(isWanted);
}

/**
 * Requests each by its id if the connector has a single request; the answer is processed like any other. The others are marked as not
 * listed. Absence counts as a cancellation only if the connector says so (`gone: cancelled`).
 */
export async function followUp(
  context: RunContext,
  position: Position,
  rows: readonly UnlistedRow[],
  /** How many rows the run's lists showed. */
  listed: number,
): Promise<{ readonly kind: 'ok'; readonly counters: Counters } | { readonly kind: 'fenced' }> {
  const { ports, plan, run } = context;
  const counts = noAskCounts();
  const notes: UnlistedNote[] = [];
  const prepared: Prepared[] = [];
  const canAsk = plan.settings.single !== undefined;
  for (const row of canAsk ? rows.filter((one) => !one.isAskedRecently).slice(0, mostAsked) : rows) {
    const answer = canAsk ? await askFor(context, row.key, counts) : undefined;
    if (answer?.kind === 'found') {
      prepared.push(answer.prepared);
      notes.push(noteOf(row.id, answer.prepared, position));
      continue;
    }
    const isAbsent = answer?.kind === 'absent';
    notes.push({ id: row.id, isAsked: canAsk, ...(isAbsent && { answer: 'absent' }) });
    // The partner cannot be asked now: the next run tries the others first. This run still counts as complete.
    if (answer?.kind === 'none') break;
    if (plan.settings.gone !== 'cancelled' || (canAsk && !isAbsent)) continue;
    const stored = await ports.runs.storedReservation(plan.target.integration, row.id);
    if (stored !== undefined && goneIsCancelled(stored)) {
      prepared.push(cancelled(plan, stored, arrivalOf(run, ports.clock.now())));
    }
  }
  const counted = sum(noCounts, { ...counts, fetched: prepared.length });
  const shownToo = rows.length >= massRows ? 0 : listed;
  const shown = {
    unchanged: 0,
    of: Math.ceil((prepared.length * (rows.length + shownToo)) / Math.max(rows.length, 1)),
  };
  const formed = { keys: [], prepared, counted, shown };
  const tally = await ports.runs.commitFormed(run, limitsOf(ports).leaseMs, formed, plan.target);
  if (tally === 'fenced') return { kind: 'fenced' };
  await ports.runs.noteUnlisted(run, plan.target.integration, run.sync ?? 'backfill', notes);
  return { kind: 'ok', counters: sum(counted, tally) };
}

const begun: ReadonlySet<string> = new Set(['checked_in', 'checked_out']);

/** A partner may remove a stay from its API after it began; that does not cancel it. */
export function goneIsCancelled({ status }: Reservation): boolean {
  return !begun.has(status);
}

type Presence =
  | { readonly kind: 'found'; readonly prepared: Prepared }
  | { readonly kind: 'absent' }
  /** An answer that says nothing about this reservation. */
  | { readonly kind: 'unusable' }
  /** No answer: probably none for other reservations either. */
  | { readonly kind: 'none' };

/** Failures that concern the requested id, not the partner as a whole. */
const ofTheId: ReadonlySet<ErrorCode> = new Set(['pull.bad_request', 'pull.refused', 'pull.wrong_shape']);

export async function askFor(
  { ports, plan, run, asker }: RunContext,
  id: string,
  counts: AskCounts,
): Promise<Presence> {
  const answer = await askSingle(asker, plan, id, { counts, mostPages: limitsOf(ports).pages });
  if (answer.kind === 'absent') return answer;
  if (answer.kind === 'found') {
    return { kind: 'found', prepared: plan.prepare(answer.record, arrivalOf(run, answer.requestedAt)) };
  }
  const isUnusable = answer.kind === 'other' || (answer.kind === 'failed' && ofTheId.has(answer.code));
  return { kind: isUnusable ? 'unusable' : 'none' };
}

function arrivalOf(run: Run, effectiveAt: EpochMs): Arrival {
  const trace = run.trace === undefined ? undefined : { trace: run.trace };
  return { mode: 'single', effectiveAt, cause: 'run', causeId: run.runId, ...trace };
}

/** A reservation that moved out of the range is not missing from the list. */
function noteOf(id: string, prepared: Prepared, { from, to }: Position): UnlistedNote {
  if (prepared.kind !== 'record') return { id, isAsked: true, answer: 'present' };
  const { check_in, check_out, status } = prepared.incoming.record as Reservation;
  const isElsewhere = check_in < from || check_out > to || status === 'cancelled' || status === 'no_show';
  return { id, isAsked: true, answer: 'present', isElsewhere };
}

/** A statement about the status only: everything else stays as each source said it. */
function cancelled({ amend }: PullPlan, stored: Reservation, arrival: Arrival): Prepared {
  const { id } = stored;
  const note = {
    step: 'reconcile',
    field: 'status',
    code: 'gone_is_cancelled',
    reason:
      'The partner no longer has this reservation, and the connector treats such a reservation as cancelled (gone: cancelled).',
    before: stored.status,
    after: 'cancelled',
  } as const;
  const said = { id, raw: null, notes: [note], origins: () => ({}) };
  return {
    kind: 'record',
    arrival,
    incoming: { ...said, type: 'reservation', record: { ...stored, status: 'cancelled' } },
    message: amend({ ...said, says: { values: { status: 'cancelled' }, lists: {} }, sent: null }, arrival),
  };
}
