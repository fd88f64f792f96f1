import type { Json, Note } from '../terms.ts';
import { describeHold, type HeldBack, withoutLosses } from './accidents/hold-back.ts';
import { decide } from './decide.ts';
import type { Arriving, Decision, LockedRecord } from './decision.ts';
import type { Arrival, RecordDeadLetter } from './incoming.ts';

/** Like `decide`, but what is held back does not change the record. */
export function decideHeld(
  arriving: Arriving,
  before: LockedRecord | undefined,
  sightedAt: Date | undefined,
): Decision {
  const { held, prepared } = arriving;
  const { message } = prepared;
  if (held === undefined || before === undefined) return decide(arriving, before, sightedAt);
  const reason = reasonOf(held);
  if (held.paths.length === 0 || message === undefined) return { kind: 'held', version: before.version, reason };
  const guarded = { ...arriving, prepared: { ...prepared, message: withoutLosses(message, held.paths) } };
  const decision = decide(guarded, before, sightedAt);
  if (decision.kind === 'change') {
    const note: Note = { step: 'reconcile', field: held.paths[0] ?? '', code: 'held', reason };
    return { ...decision, notes: [...decision.notes, note] };
  }
  if (decision.kind !== 'unchanged' && decision.kind !== 'superseded') return decision;
  return { ...decision, reason, isShown: false };
}

const reasonOf = ({ holds }: HeldBack): string => `Held: ${holds.map(describeHold).join('; ')}.`;

/** A held row is kept like a dead letter, whole: with a code of its own, and the hold to which it belongs. */
export function heldLetter(
  { id, arrival, prepared }: Arriving,
  held: HeldBack,
): { readonly letter: RecordDeadLetter; readonly arrival: Arrival } {
  const raw = prepared.kind === 'record' ? prepared.incoming.raw : (prepared.message?.raw ?? null);
  const letter: RecordDeadLetter = {
    kind: arrival.cause === 'event' ? 'event' : 'record',
    type: 'reservation',
    id,
    code: 'record.held',
    message: reasonOf(held),
    detail: {
      holds: held.holds.map((hold) => hold.id),
      effective_at: arrival.effectiveAt,
      ...(arrival.mode === 'single' && { requested_by_id: true }),
    },
    raw: { key: id, value: raw } as Json,
  };
  return { letter, arrival };
}
