import type { Brand } from '../../core/brand/brand.ts';
import { readEvent } from '../../core/intake/push/reservation-event.ts';
import { read } from '../../core/pipeline.ts';
import { type Receipt, reprocessedBy, type Statement } from '../../core/reconcile/forms.ts';
import type { KeptPayload, Sent } from '../../core/store/records/entry-payload.ts';

/** A payload and how it arrived: plain data, for any thread. */
export type Preparation = Sent & { readonly arrival: Receipt };

/** What a stored payload says under a brand's documents. */
export function stateAgain(brand: Brand, { arrival, ...sent }: Preparation): Statement {
  return sent.kind === 'record' ? read(brand, sent.raw, arrival) : readEvent(brand, sent.content, arrival);
}

/** What a kept payload says under a brand’s documents of today. */
export function statePayload(brand: Brand, { mode, sent, effectiveAt, seq }: KeptPayload): Statement {
  const arrival: Receipt = { mode, effectiveAt: effectiveAt.getTime(), seq, ...reprocessedBy(brand) };
  return stateAgain(brand, { ...sent, arrival });
}
