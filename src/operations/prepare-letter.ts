import { type EventContent, prepareEvent } from '../intake/push/reservation-event.ts';
import type { Arrival, Prepared } from '../reconcile/incoming.ts';
import type { ActiveIntegration } from '../runtime/active-integration.ts';
import { eventPathOf } from '../runtime/event-path.ts';
import type { RawRecord } from '../shape/config.ts';

/** A dead letter's payload and how it arrived: plain data, for any thread. */
export type Preparation =
  | { readonly kind: 'event'; readonly content: EventContent; readonly arrival: Arrival }
  | { readonly kind: 'record'; readonly raw: RawRecord; readonly arrival: Arrival };

/** Processes a dead letter's payload the way it arrived, under the documents in force. */
export function prepareLetter(integration: ActiveIntegration, preparation: Preparation): Prepared {
  const { arrival } = preparation;
  if (preparation.kind === 'record') return integration.path.prepare(preparation.raw, arrival);
  return prepareEvent(eventPathOf(integration), preparation.content, arrival);
}
