import type { Arrival, Prepared } from '../reconcile/incoming.ts';
import type { ActiveIntegration } from '../runtime/active.ts';
import type { RawRecord } from '../shape/config.ts';
import type { Json } from '../terms.ts';
import { eventPathOf } from '../wiring/event-path.ts';

/** A dead letter's payload and how it once arrived: plain data, for any thread. */
export type Preparation =
  | { readonly kind: 'event'; readonly data: Json; readonly arrival: Arrival }
  | { readonly kind: 'record'; readonly raw: RawRecord; readonly arrival: Arrival };

/** Takes a dead letter's payload through the path as the documents now are. */
export function prepareLetter(integration: ActiveIntegration, preparation: Preparation): Prepared {
  const { arrival } = preparation;
  if (preparation.kind === 'record') return integration.path.prepare(preparation.raw, arrival);
  const path = eventPathOf(integration);
  const shaped = path.record(preparation.data);
  if (shaped.kind === 'ok') return path.prepare(shaped.record, arrival);
  const { code, message } = shaped;
  const deadLetter = { kind: 'event' as const, type: 'reservation' as const, code, message, detail: {}, raw: null };
  return { kind: 'dead', arrival, deadLetter };
}
