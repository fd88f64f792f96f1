import type { ChangeEvent, EpochMs } from '../terms.ts';

/** What is stored of a record, as far as order and content go. */
export interface Known {
  readonly version: number;
  readonly effectiveAt: EpochMs;
  readonly seq: number;
  readonly hash: string;
  readonly status?: string | undefined;
}

/** What came in, as far as order and content go. */
export interface Arrived {
  readonly effectiveAt: EpochMs;
  readonly seq: number;
  readonly hash: string;
  readonly status?: string | undefined;
}

export type Verdict =
  | { readonly kind: 'change'; readonly event: ChangeEvent; readonly version: number }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'superseded' };

/**
 * The one rule of order: of two states of a record the one with the later effective time holds; of two with the same, the
 * later in sequence. It gives the same end state for every order of arrival. Every transition between states is allowed:
 * hotels undo check-ins and revive cancellations.
 */
export function reconcile(known: Known | undefined, arrived: Arrived): Verdict {
  if (known === undefined || known.version === 0)
    return { kind: 'change', event: eventOf(undefined, arrived), version: 1 };
  if (arrived.hash === known.hash) return { kind: 'unchanged' };
  if (isOlder(arrived, known)) return { kind: 'superseded' };
  return { kind: 'change', event: eventOf(known, arrived), version: known.version + 1 };
}

export function isOlder(a: { effectiveAt: EpochMs; seq: number }, b: { effectiveAt: EpochMs; seq: number }): boolean {
  return a.effectiveAt !== b.effectiveAt ? a.effectiveAt < b.effectiveAt : a.seq < b.seq;
}

const ended = new Set(['cancelled', 'no_show']);

function eventOf(known: Known | undefined, arrived: Arrived): ChangeEvent {
  const endsNow = ended.has(arrived.status ?? '') && !ended.has(known?.status ?? '');
  if (endsNow) return 'cancelled';
  return known === undefined ? 'created' : 'updated';
}
