import { type EventContent, prepareEvent } from '../intake/push/reservation-event.ts';
import type { Arrival, Prepared } from '../reconcile/incoming.ts';
import type { ActiveIntegration } from '../runtime/active-integration.ts';
import { eventPathOf } from '../runtime/event-path.ts';
import type { RawRecord } from '../shape/config.ts';

/** A dead letter's payload and how it arrived: plain data, for any thread. */
export type Preparation =
  | { readonly kind: 'event'; readonly content: EventContent; readonly arrival: Arrival }
  | { readonly kind: 'record'; readonly raw: RawRecord; readonly arrival: Arrival }
  /** A booking that the partner no longer listed, held with many others. */
  | { readonly kind: 'gone'; readonly id: string; readonly arrival: Arrival };

/** Processes a dead letter's payload the way it arrived, under the documents in force. */
export function prepareLetter(integration: ActiveIntegration, preparation: Preparation): Prepared {
  const { arrival } = preparation;
  if (preparation.kind === 'record') return integration.path.prepare(preparation.raw, arrival);
  if (preparation.kind === 'gone') return gone(integration, preparation.id, arrival);
  return prepareEvent(eventPathOf(integration), preparation.content, arrival);
}

/** Changes only the status of the stored reservation. */
function gone(integration: ActiveIntegration, id: string, arrival: Arrival): Prepared {
  const reason = 'The partner no longer has this reservation, and an operator released its cancellation.';
  const note = { step: 'reconcile', field: 'status', code: 'gone_is_cancelled', reason } as const;
  const says = { values: { status: 'cancelled' }, lists: {} };
  const amendment = { id, says, sent: null, raw: null, notes: [note], origins: () => ({}) };
  return {
    kind: 'dead',
    arrival,
    deadLetter: {
      kind: 'record',
      type: 'reservation',
      id,
      code: 'record.unknown_reservation',
      message: 'The reservation is not stored.',
      detail: {},
      raw: null,
    },
    message: integration.path.amend(amendment, arrival),
  };
}
