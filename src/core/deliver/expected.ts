import type { JsonObject } from '../../terms.ts';
import { deliveryOf } from './batch.ts';
import type { Here } from './compare.ts';
import type { Delivery, Message } from './message.ts';
import type { Claimed, Lane } from './ports.ts';
import { type Selected, select } from './select.ts';

/** A record as a claim would read it, as if its newest version had not been delivered. */
export interface Peeked extends Claimed {
  readonly integration: string;
  /** The destination has acknowledged a version. */
  readonly isKnown: boolean;
  /** A delivery is under way, or held back. */
  readonly waits: boolean;
  /** Changes with the record, and with each step of a delivery. */
  readonly stamp: string;
}

/** What the destination should have of a record, by the decision that a delivery makes; with the delivery, if one would be made. */
export function expected(
  lane: Lane,
  peeked: Peeked,
  epoch: number,
): { readonly here: Here; readonly delivery?: Delivery } {
  const { version, waits, isKnown } = peeked;
  const leftOut = (reason: string) => ({ here: { kind: 'left_out', version, waits, reason } as const });
  if (lane.inPreview && !isKnown) return leftOut('preview');
  const chosen = select(lane, peeked, epoch);
  if (chosen.kind !== 'send') return leftOut(chosen.code);
  if (chosen.leaves === 'removed') return leftOut(reasonOf(select(lane, neverSent(peeked), epoch)));
  const delivery = deliveryOf(lane, peeked, chosen);
  const { message } = delivery;
  const mayLack = chosen.leaves === 'withdrawn';
  const content = () => contentOf(message);
  return { here: { kind: 'sent', version, waits, epoch: message.epoch ?? 1, content, mayLack }, delivery };
}

/** What a record says besides its id and version. */
export function contentOf({ brand_id, data: { id: _, ...data } }: Message): JsonObject {
  return { brand_id, ...data } as unknown as JsonObject;
}

/** A destination that never had the record would not be told that it left, but why it is not sent. */
const neverSent = ({ deliveredDataTexts: _, droppedDataTexts: __, ...peeked }: Peeked): Claimed => ({
  ...peeked,
  deliveredVersion: 0,
});

const reasonOf = (chosen: Selected): string => ('code' in chosen ? chosen.code : 'removed');
