import type { Outcome } from './destination.ts';
import { leastAskedMs } from './retry.ts';

/**
 * A record that is told to wait (429 with Retry-After) waits alone, and the others flow past it. When a second, distinct one
 * is told the same and nothing was taken in between, it is the destination that is busy: then it is left in peace.
 */
export interface ToldToWait {
  /** Those that were told so after the last success. */
  readonly records: readonly string[];
  /** They were told in more than one answer. */
  readonly severally: boolean;
  readonly waitMs: number;
}

export interface Told {
  readonly record: string;
  readonly outcome: Outcome;
}

/** What a call's outcomes, in their order, leave to remember; an answer to a whole batch is one answer. */
export function toldToWait(outcomes: readonly Told[]): ToldToWait | undefined {
  const lastTaken = outcomes.findLastIndex(({ outcome }) => outcome.kind === 'delivered');
  const since = outcomes.slice(lastTaken + 1).filter(({ outcome }) => waitAskedMs(outcome) > 0);
  if (since.length === 0) return undefined;
  const alone = since.filter(({ outcome }) => !('whole' in outcome && outcome.whole));
  const answers = alone.length + (alone.length < since.length ? 1 : 0);
  return {
    records: since.map(({ record }) => record),
    severally: answers > 1,
    waitMs: Math.max(...since.map(({ outcome }) => waitAskedMs(outcome))),
  };
}

/** How long the destination asked to wait without blaming the delivery; 0 where it did not. */
export function waitAskedMs(outcome: Outcome): number {
  if (outcome.kind !== 'retry' || !outcome.free || outcome.afterMs === undefined) return 0;
  return Math.max(outcome.afterMs, leastAskedMs);
}
