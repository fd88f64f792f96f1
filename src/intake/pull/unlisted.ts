import type { Reservation } from '../../canonical/reservation.ts';
import type { Arrival, Prepared } from '../../reconcile/incoming.ts';
import type { EpochMs } from '../../terms.ts';
import { type AskCounts, type Asker, noAskCounts } from './ask.ts';
import { limitsOf } from './limits.ts';
import { asksByDays } from './list-request.ts';
import type { PullPlan, PullPorts, UnlistedNote, UnlistedRow } from './ports.ts';
import { openRequest } from './request.ts';
import { rowIdentity } from './routing.ts';
import { type Counters, noCounts, type Position, type Run, sum } from './run-state.ts';
import { listsChanges, selectionOf } from './select.ts';

export interface Context {
  readonly ports: PullPorts;
  readonly plan: PullPlan;
  readonly run: Run;
  readonly asker: Asker;
}

/** The most requests of one run for reservations that its lists no longer show; the next run continues. */
const mostAsked = 100;

/**
 * The reservations that a complete run should have listed and did not. Empty if the run did not read everything, or if its list
 * filters by status and the connector has no single request to check the missing ones.
 */
export async function unlistedIn(
  { ports, plan, run }: Context,
  position: Position,
  property?: string,
): Promise<readonly UnlistedRow[]> {
  const { settings, shaper } = plan;
  // For a list without dates, or of changes only, it is unknown which reservations it should show.
  if (position.findings.length > 0 || listsChanges(settings, position) || !asksByDays(settings, run)) return [];
  const isFiltered = run.sync !== undefined && settings.syncs[run.sync]?.status !== undefined;
  if (isFiltered && settings.single === undefined) return [];
  const { integration } = plan.target;
  const rows = await ports.runs.unlisted(run, position, {
    integration,
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
  context: Context,
  position: Position,
  rows: readonly UnlistedRow[],
): Promise<{ readonly kind: 'ok'; readonly counters: Counters } | { readonly kind: 'fenced' }> {
  const { ports, plan, run } = context;
  const counts = noAskCounts();
  const notes: UnlistedNote[] = [];
  const prepared: Prepared[] = [];
  const canAsk = plan.settings.single !== undefined;
  for (const row of canAsk ? rows.filter((one) => !one.isAskedRecently).slice(0, mostAsked) : rows) {
    const answer = canAsk ? await askFor(context, row.id, counts) : { kind: 'unknown' as const };
    // The partner cannot be asked now: the next run tries again. This run still counts as complete.
    if (answer === undefined) break;
    if (answer.kind === 'found') {
      prepared.push(answer.prepared);
      notes.push(noteOf(row.id, answer.prepared, position));
      continue;
    }
    notes.push({ id: row.id, ...(answer.kind === 'absent' && { answer: 'absent' }) });
    if (plan.settings.gone !== 'cancelled' || answer.kind === 'other') continue;
    const stored = await ports.runs.storedReservation(plan.target.integration, row.id);
    if (stored !== undefined) prepared.push(cancelled(plan, stored, arrivalOf(run, ports.clock.now())));
  }
  const counted = sum(noCounts, { ...counts, fetched: prepared.length });
  const formed = { keys: [], prepared, counted };
  const tally = await ports.runs.commitFormed(run, limitsOf(ports).leaseMs, formed, plan.target);
  if (tally === 'fenced') return { kind: 'fenced' };
  await ports.runs.noteUnlisted(run, plan.target.integration, run.sync ?? 'backfill', notes);
  return { kind: 'ok', counters: sum(counted, tally) };
}

type SingleAnswer =
  | { readonly kind: 'found'; readonly prepared: Prepared }
  | { readonly kind: 'absent' }
  /** Another reservation: the request is probably a search. It says nothing about this one. */
  | { readonly kind: 'other' };

export async function askFor(
  { plan, run, asker }: Context,
  id: string,
  counts: AskCounts,
): Promise<SingleAnswer | undefined> {
  const { single, baseUrl, brandId } = plan.settings;
  if (single === undefined) return undefined;
  const request = openRequest(single, baseUrl, { id, brand_id: brandId });
  const hasRows = (body: Parameters<typeof plan.single>[0]) => plan.single(body).kind === 'ok';
  const asked = await asker.ask(request, { canShrink: false, firstPage: true, counts, hasRows });
  if (asked.kind === 'failed' && asked.code === 'pull.not_found') return { kind: 'absent' };
  if (asked.kind !== 'answer') return undefined;
  if (asked.body === undefined) return { kind: 'absent' };
  const found = plan.single(asked.body);
  if (found.kind !== 'ok') return undefined;
  if (found.record.key !== id) return { kind: 'other' };
  return { kind: 'found', prepared: plan.prepare(found.record, arrivalOf(run, asked.requestedAt)) };
}

function arrivalOf(run: Run, effectiveAt: EpochMs): Arrival {
  const trace = run.trace === undefined ? undefined : { trace: run.trace };
  return { mode: 'single', effectiveAt, cause: 'run', causeId: run.runId, ...trace };
}

/** A reservation that moved out of the range is not missing from the list. */
function noteOf(id: string, prepared: Prepared, { from, to }: Position): UnlistedNote {
  if (prepared.kind !== 'record') return { id, answer: 'present' };
  const { check_in, check_out, status } = prepared.incoming.record as Reservation;
  const isElsewhere = check_in < from || check_out > to || status === 'cancelled' || status === 'no_show';
  return { id, answer: 'present', isElsewhere, record: { check_in, check_out, status } };
}

/** A statement about the status only: everything else stays as each source said it. */
function cancelled({ finish }: PullPlan, stored: Reservation, arrival: Arrival): Prepared {
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
    message: {
      ...said,
      source: 'single',
      manner: { silence: 'keep', lists: 'merge' },
      isOnlySource: false,
      isVerbatim: true,
      says: () => ({ values: { status: 'cancelled' }, lists: {} }),
      itemIds: () => undefined,
      empties: () => [],
      finish: (merged) => finish(merged, { key: id, value: null }, arrival),
    },
  };
}
