import type { Reservation } from '../canonical/reservation.ts';
import type { Json } from '../terms.ts';

type Draft = { [field: string]: Json | undefined };

/**
 * A partial event completed: a top-level field that it does not carry keeps the stored value; one that it carries, even as
 * null or an empty list, replaces it. Lists are replaced whole: nothing tells which of two guests a shorter list left out.
 */
export function completeDraft(draft: Draft, present: ReadonlySet<string>, known: Reservation | undefined): Draft {
  if (known === undefined) return draft;
  const completed: Draft = { ...draft };
  for (const [field, value] of Object.entries(known)) {
    if (field === 'id' || present.has(field === 'status_raw' ? 'status' : field)) continue;
    completed[field] = value as Json;
  }
  return completed;
}

/**
 * The final status of a reservation.cancelled event. A payload that says cancelled or no_show is believed; one that says
 * nothing, or still has the status from before, or a spelling that nobody knows, is cancelled all the same: the event says so.
 */
export function cancelledStatus(draft: Draft): { readonly draft: Draft; readonly stated: boolean } {
  const { status } = draft;
  if (status === 'cancelled' || status === 'no_show') return { draft, stated: true };
  return { draft: { ...draft, status: 'cancelled' }, stated: false };
}
