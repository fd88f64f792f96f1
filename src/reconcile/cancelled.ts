import type { Json } from '../terms.ts';

type Draft = { readonly [field: string]: Json | undefined };

/**
 * The final status of a reservation.cancelled event. A payload that says cancelled or no_show is believed; one that says
 * nothing, or still has the status from before, or a spelling that nobody knows, is cancelled all the same: the event says so.
 */
export function cancelledStatus(draft: Draft): { readonly draft: Draft; readonly stated: boolean } {
  const { status } = draft;
  if (status === 'cancelled' || status === 'no_show') return { draft, stated: true };
  return { draft: { ...draft, status: 'cancelled' }, stated: false };
}
