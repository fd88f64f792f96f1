import type { Json } from '../terms.ts';

/**
 * The final status of a reservation.cancelled event. A payload with the status cancelled or no_show keeps it. Any other payload
 * becomes cancelled: one without a status, with the old status, or with an unknown spelling. The event type is enough.
 */
export function cancelledStatus<Draft extends { readonly status: Json | undefined }>(
  draft: Draft,
): { readonly draft: Draft; readonly stated: boolean } {
  const { status } = draft;
  if (status === 'cancelled' || status === 'no_show') return { draft, stated: true };
  return { draft: { ...draft, status: 'cancelled' }, stated: false };
}
