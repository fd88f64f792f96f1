import { type EventContent, prepareEvent } from '../intake/push/reservation-event.ts';
import type { Arrival, Prepared } from '../reconcile/incoming.ts';
import type { ActiveIntegration } from '../runtime/active.ts';
import { eventPathOf } from '../runtime/event-path.ts';
import type { RawRecord } from '../shape/config.ts';

/** A dead letter's payload and how it once arrived: plain data, for any thread. */
export type Preparation =
  | { readonly kind: 'event'; readonly content: EventContent; readonly arrival: Arrival }
  | { readonly kind: 'record'; readonly raw: RawRecord; readonly arrival: Arrival };

/** Takes a dead letter's payload through the path that its kind took when it arrived, as the documents now are. */
export function prepareLetter(integration: ActiveIntegration, preparation: Preparation): Prepared {
  const { arrival } = preparation;
  if (preparation.kind === 'record') return integration.path.prepare(preparation.raw, arrival);
  return prepareEvent(eventPathOf(integration), preparation.content, arrival);
}
