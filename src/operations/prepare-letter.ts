import type { Brand } from '../brand/brand.ts';
import { type EventContent, stateEvent } from '../intake/push/reservation-event.ts';
import { state } from '../pipeline.ts';
import type { Arrival, Statement } from '../reconcile/forms.ts';
import type { RawRecord } from '../shape/config.ts';

/** A dead letter's payload and how it arrived: plain data, for any thread. */
export type Preparation =
  | { readonly kind: 'event'; readonly content: EventContent; readonly arrival: Arrival }
  | { readonly kind: 'record'; readonly raw: RawRecord; readonly arrival: Arrival };

/** What a dead letter's payload says, as it arrived, under the documents in force. */
export function stateLetter(brand: Brand, preparation: Preparation): Statement {
  const { arrival } = preparation;
  if (preparation.kind === 'record') return state(brand, preparation.raw, arrival);
  return stateEvent(brand, preparation.content, arrival);
}
