import type { Reservation } from '../../../canonical/reservation.ts';
import type { PullSettings } from '../../../documents/pull.ts';
import type { LocalDate, SyncType } from '../../../terms.ts';
import { askedRange } from '../window/range.ts';
import type { Window } from '../window/windows.ts';
import type { Position, Run } from './run-state.ts';

/** Whether a run keeps this reservation. */
export type Selection = (reservation: Pick<Reservation, 'check_in' | 'check_out' | 'status'>) => boolean;

/**
 * By the property's date, the three syncs divide all reservations: arriving, in house, departed. The days of arrival and departure
 * count as in house, so that no reservation falls between two syncs. Cancellations and no-shows are kept by every sync.
 */
const purposes: Readonly<Record<SyncType, (today: LocalDate) => Selection>> = {
  pre_stay: (today) => (reservation) => reservation.check_in > today,
  stay: (today) => (reservation) =>
    reservation.status === 'checked_in' || (reservation.check_in <= today && reservation.check_out >= today),
  post_stay: (today) => (reservation) => reservation.check_out < today,
};

const ended: ReadonlySet<string> = new Set(['cancelled', 'no_show']);
const everything: Selection = () => true;

/** What this run keeps. */
export function selectionOf(run: Run, settings: Pick<PullSettings, 'acknowledge'>, position: Position): Selection {
  if (listsChanges(settings, position)) return everything;
  return selectionFor(run.sync, position.today, askedRange(run));
}

/**
 * A list by modification time, or of what was not acknowledged, shows a change once. Dividing it between syncs would lose a change: one
 * sync reads it on the day before arrival, the other on the day itself, and neither keeps it.
 */
export function listsChanges({ acknowledge }: Pick<PullSettings, 'acknowledge'>, { since }: Position): boolean {
  return acknowledge !== undefined || since !== undefined;
}

export function selectionFor(sync: SyncType | undefined, today: LocalDate, asked: Window | undefined): Selection {
  if (sync === undefined || (asked !== undefined && isOutside(sync, today, asked))) return everything;
  const wanted = purposes[sync](today);
  return (reservation) => ended.has(reservation.status) || wanted(reservation);
}

/** A requested range outside the sync's purpose (past days for pre_stay) acts as a backfill: everything in it is kept. */
function isOutside(sync: SyncType, today: LocalDate, { from, to }: Window): boolean {
  if (sync === 'pre_stay') return to <= today;
  if (sync === 'post_stay') return from >= today;
  return to < today || from > today;
}
