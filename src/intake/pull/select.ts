import type { Reservation } from '../../canonical/reservation.ts';
import type { LocalDate, SyncType } from '../../terms.ts';
import type { Window } from './windows.ts';

/** Whether a run is there for this reservation. */
export type Selection = (reservation: Pick<Reservation, 'check_in' | 'check_out' | 'status'>) => boolean;

/**
 * By the property's date the three syncs part all reservations between them: to arrive, in house, departed. On the days of
 * arrival and departure a guest counts as in house, so that nothing falls between two syncs. A cancellation or no-show is
 * kept wherever the list shows it, since it must be seen whatever its dates.
 */
const purposes: Readonly<Record<SyncType, (today: LocalDate) => Selection>> = {
  pre_stay: (today) => (reservation) => reservation.check_in > today,
  stay: (today) => (reservation) =>
    reservation.status === 'checked_in' || (reservation.check_in <= today && reservation.check_out >= today),
  post_stay: (today) => (reservation) => reservation.check_out < today,
};

const ended: ReadonlySet<string> = new Set(['cancelled', 'no_show']);
const everything: Selection = () => true;

export function selectionFor(sync: SyncType | undefined, today: LocalDate, asked: Window | undefined): Selection {
  if (sync === undefined || (asked !== undefined && isBesides(sync, today, asked))) return everything;
  const wanted = purposes[sync](today);
  return (reservation) => ended.has(reservation.status) || wanted(reservation);
}

/** A range given by hand in which the sync could find nothing of its own is asked for its own sake: past arrivals, say. */
function isBesides(sync: SyncType, today: LocalDate, { from, to }: Window): boolean {
  if (sync === 'pre_stay') return to <= today;
  if (sync === 'post_stay') return from >= today;
  return to < today || from > today;
}
