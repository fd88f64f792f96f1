import type { FailedCall } from '../outbound/circuit.ts';
import type { Outcome } from './destination.ts';
import { leastAskedMs } from './retry.ts';

/**
 * While a destination is away (outbound/circuit.ts), only the first failed call uses a try of its records: an outage costs one try at
 * most, however long it lasts. A record that fails while others pass, or all alone, uses its tries up as always. Each probe takes the
 * record that has been due for longest and puts it back behind the others, so one bad record cannot keep the circuit open.
 */
export type CallHealth = { readonly kind: 'there' } | ({ readonly kind: 'failed' } & FailedCall);

/** What the outcomes of a call say about the destination; undefined where they say nothing. */
export function healthOf(outcomes: readonly RecordOutcome[]): CallHealth | undefined {
  const heard = outcomes.filter(({ outcome }) => outcome.kind !== 'skipped' && !isUnsent(outcome));
  const failures = heard.flatMap(({ record, outcome }) => (isFailure(outcome) ? [{ record, outcome }] : []));
  const [first] = failures;
  if (heard.length === 0) return undefined;
  if (first === undefined || failures.length < heard.length) return { kind: 'there' };
  const unreachable = failures.every(({ outcome }) => outcome.status === undefined && blameless.has(outcome.code));
  return { kind: 'failed', message: first.outcome.message, unreachable, records: failures.map(({ record }) => record) };
}

const blameless: ReadonlySet<string> = new Set([
  'deliver.unreachable',
  'deliver.auth_failed',
  'deliver.write_failed',
  'deliver.warehouse_mismatch',
]);

/** Not sent because the lease was lost: that says nothing about the destination. */
const isUnsent = (outcome: Outcome): boolean => outcome.kind === 'retry' && outcome.code === 'deliver.lease_expired';

function isFailure(outcome: Outcome): outcome is Outcome & { kind: 'retry' } {
  if (outcome.kind !== 'retry' || outcome.free) return false;
  const { status, code } = outcome;
  return status === undefined || code === 'deliver.web_page' || status >= 500 || status === 408 || status === 425;
}

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
