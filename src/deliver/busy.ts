import type { Outcome } from './destination.ts';
import { leastAskedMs } from './retry.ts';

/**
 * A record that the destination asks to wait (429 with Retry-After) waits alone, and other records flow past it. If a second record
 * is asked to wait too and nothing was accepted in between, the destination itself is busy: it is paused on all nodes.
 */
export interface WaitRequest {
  /** The records asked to wait since the last success. */
  readonly records: readonly string[];
  /** They were asked in more than one answer. */
  readonly severalAnswers: boolean;
  readonly waitMs: number;
}

export interface RecordOutcome {
  readonly record: string;
  readonly outcome: Outcome;
}

/** The wait request in the outcomes of a call, in their order. One answer to a whole batch counts as one. */
export function waitRequestOf(outcomes: readonly RecordOutcome[]): WaitRequest | undefined {
  const lastSuccess = outcomes.findLastIndex(({ outcome }) => outcome.kind === 'delivered');
  const since = outcomes.slice(lastSuccess + 1).filter(({ outcome }) => waitAskedMs(outcome) > 0);
  if (since.length === 0) return undefined;
  const alone = since.filter(({ outcome }) => !('whole' in outcome && outcome.whole));
  const answers = alone.length + (alone.length < since.length ? 1 : 0);
  return {
    records: since.map(({ record }) => record),
    severalAnswers: answers > 1,
    waitMs: Math.max(...since.map(({ outcome }) => waitAskedMs(outcome))),
  };
}

/** How long the destination asked to wait without blaming the delivery; 0 if it did not. */
export function waitAskedMs(outcome: Outcome): number {
  if (outcome.kind !== 'retry' || !outcome.free || outcome.afterMs === undefined) return 0;
  return Math.max(outcome.afterMs, leastAskedMs);
}
