import type { ChangeEvent } from '../terms.ts';
import { isNewer, type Moment } from './statement.ts';

/** The order and content of a stored record. */
export interface Known {
  readonly version: number;
  readonly moment: Moment;
  readonly hash: string;
  readonly status?: string | undefined;
}

/** The order and content of an incoming record. */
export interface Arrived {
  readonly moment: Moment;
  readonly hash: string;
  readonly status?: string | undefined;
}

export type Verdict =
  | { readonly kind: 'change'; readonly event: ChangeEvent; readonly version: number }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'superseded' };

/**
 * The one rule of order: of two states of a record the one with the later effective time wins; of two with the same time, the
 * later in sequence. Every order of arrival ends in the same state. Every status transition is allowed: hotels undo check-ins and
 * revive cancellations.
 */
export function reconcile(known: Known | undefined, arrived: Arrived): Verdict {
  if (known === undefined || known.version === 0) return { kind: 'change', ...changeAfter(undefined, arrived.status) };
  if (arrived.hash === known.hash) return { kind: 'unchanged' };
  if (isNewer(known.moment, arrived.moment)) return { kind: 'superseded' };
  return { kind: 'change', ...changeAfter(known, arrived.status) };
}

/** The next version of a record, and what kind of change it is. */
export function changeAfter(
  known: Pick<Known, 'version' | 'status'> | undefined,
  status: string | undefined,
): { readonly event: ChangeEvent; readonly version: number } {
  const endsNow = ended.has(status ?? '') && !ended.has(known?.status ?? '');
  const event = endsNow ? 'cancelled' : known === undefined ? 'created' : 'updated';
  return { event, version: (known?.version ?? 0) + 1 };
}

const ended = new Set(['cancelled', 'no_show']);
