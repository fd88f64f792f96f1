import type { ErrorCode } from '../../../../errors.ts';
import type { EpochMs } from '../../../../terms.ts';
import { noteOf } from '../../../canonical/notes.ts';
import type { Reservation } from '../../../canonical/reservation.ts';
import { noAskCounts } from '../../../outbound/ask/asking.ts';
import type { AskCounts } from '../../../outbound/ask/ports.ts';
import { amend, read } from '../../../pipeline.ts';
import type { Receipt, Statement } from '../../../reconcile/forms.ts';
import { rowIdentity } from '../page/page.ts';
import { limitsOf, type Unlisted, type UnlistedNote } from '../ports.ts';
import { asksByDays } from '../request/list-request.ts';
import { askSingle } from '../request/single.ts';
import { listsChanges, selectionOf } from '../window/range.ts';
import { type Counters, noCounts, type Position, type Run, sum } from './run-state.ts';
import type { RunContext } from './run-work.ts';

/** The most requests of one run for reservations that its lists no longer show; the next run continues. */
const mostAsked = 100;

/**
 * The reservations that a complete run should have listed and did not. Empty if the run did not read everything, or if its list
 * filters by status and the connector has no single request to check the missing ones.
 */
export async function unlistedIn(
  { ports, plan, run }: RunContext,
  position: Position,
  property?: string,
): Promise<Unlisted> {
  const { settings, brand } = plan;
  // For a list without dates, or of changes only, it is unknown which reservations it should show.
  if (position.findings.length > 0 || listsChanges(settings, position) || !asksByDays(settings, run)) return none;
  const isFiltered = run.sync !== undefined && settings.syncs[run.sync]?.status !== undefined;
  if (isFiltered && settings.single === undefined) return none;
  const { missing, expected } = await ports.runs.unlisted(run, position, {
    brand,
    isFlat: brand.shapers.pull.flat,
    identity: (key) => rowIdentity(key, property),
  });
  const isWanted = selectionOf(run, settings, position);
  return { missing: missing.filter(isWanted), expected };
}

const none: Unlisted = { missing: [], expected: 0 };

/**
 * Requests each by its id if the connector has a single request; the answer is processed like any other. The others are marked as not
 * listed. Absence counts as a cancellation only if the connector says so (`gone: cancelled`).
 */
export async function followUp(
  context: RunContext,
  position: Position,
  { missing: rows, expected }: Unlisted,
): Promise<{ readonly kind: 'ok'; readonly counters: Counters } | { readonly kind: 'fenced' }> {
  const { ports, plan, run } = context;
  const counts = noAskCounts();
  const notes: UnlistedNote[] = [];
  const statements: Statement[] = [];
  const canAsk = plan.settings.single !== undefined;
  for (const row of canAsk ? rows.filter((one) => !one.isAskedRecently).slice(0, mostAsked) : rows) {
    const answer = canAsk ? await askFor(context, row.key, counts) : undefined;
    if (answer?.kind === 'found') {
      statements.push(answer.statement);
      notes.push(unlistedNote(row.id, answer.statement, position));
      continue;
    }
    const isAbsent = answer?.kind === 'absent';
    notes.push({ id: row.id, isAsked: canAsk, ...(isAbsent && { answer: 'absent' }) });
    // The partner cannot be asked now: the next run tries the others first. This run still counts as complete.
    if (answer?.kind === 'none') break;
    if (plan.settings.gone !== 'cancelled' || (canAsk && !isAbsent)) continue;
    const stored = await ports.runs.storedReservation(plan.brand.integration, row.id);
    if (stored !== undefined && goneIsCancelled(stored)) {
      statements.push(cancelled(stored, arrivalOf(run, ports.clock.now())));
    }
  }
  const counted = sum(noCounts, { ...counts, fetched: statements.length });
  // The statements stand for their share of the bookings that the list must show; unknown bookings in the list do not count.
  const of = Math.ceil((statements.length * expected) / Math.max(rows.length, 1));
  const formed = { keys: [], statements, counted, shown: { unchanged: 0, of } };
  const tally = await ports.runs.commitFormed(run, limitsOf(ports).leaseMs, formed, plan.brand);
  if (tally === 'fenced') return { kind: 'fenced' };
  await ports.runs.noteUnlisted(run, plan.brand.integration, run.sync ?? 'backfill', notes);
  return { kind: 'ok', counters: sum(counted, tally) };
}

const begun: ReadonlySet<string> = new Set(['checked_in', 'checked_out']);

/** A partner may remove a stay from its API after it began; that does not cancel it. */
export function goneIsCancelled({ status }: Reservation): boolean {
  return !begun.has(status);
}

type Presence =
  | { readonly kind: 'found'; readonly statement: Statement }
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
    return { kind: 'found', statement: read(plan.brand, answer.record, arrivalOf(run, answer.requestedAt)) };
  }
  const isUnusable = answer.kind === 'other' || (answer.kind === 'failed' && ofTheId.has(answer.code));
  return { kind: isUnusable ? 'unusable' : 'none' };
}

export function arrivalOf(run: Run, effectiveAt: EpochMs): Receipt {
  const trace = run.trace === undefined ? undefined : { trace: run.trace };
  return { mode: 'single', effectiveAt, cause: 'run', causeId: run.runId, ...trace };
}

/** A reservation that moved out of the range is not missing from the list. */
function unlistedNote(id: string, { record }: Statement, { from, to }: Position): UnlistedNote {
  if (record === undefined) return { id, isAsked: true, answer: 'present' };
  const { check_in, check_out, status } = record as Reservation;
  const isElsewhere = check_in < from || check_out > to || status === 'cancelled' || status === 'no_show';
  return { id, isAsked: true, answer: 'present', isElsewhere };
}

/** A statement about the status only: everything else stays as each source said it. */
export function cancelled({ id, status }: Reservation, arrival: Receipt): Statement {
  const notes = [noteOf('gone_is_cancelled', 'status', { before: status, after: 'cancelled' })];
  // What the list shows is what says it: if the booking is listed again, that is news.
  return {
    ...amend({ id, content: { values: { status: 'cancelled' }, lists: {} }, raw: null, notes }, arrival),
    source: 'pull',
  };
}
