import type { Outcome } from './destination.ts';

/**
 * The circuit of a destination, one row in the database that all nodes share. A call that finds nobody there (no connection, no
 * answer, 5xx to everything in it) is a failure of the destination, not of its records.
 *
 *   closed ──5 failed calls, nothing accepted in between──▶ open ──cooldown over──▶ probe by one node, one record
 *     ▲                                                       ▲                        │            │
 *     │                                                       └──failed, cooldown doubled───────────┘
 *     └──────────────any answer but a failure───────────────────────────────────────────┘
 *
 * Only the first failed call after a success uses a try of its records. So a record that fails while others pass uses its tries up,
 * and an outage costs one try at most, however long it lasts. Each probe takes the record that has been due for longest and puts it
 * back behind the others, so one bad record cannot keep the circuit open.
 */
export interface CircuitSettings {
  readonly failuresToOpen: number;
  /** The first cooldown; it doubles with each failed probe. */
  readonly firstMs: number;
  readonly mostMs: number;
}

export const standardCircuit: CircuitSettings = { failuresToOpen: 5, firstMs: 10_000, mostMs: 300_000 };

/** What the outcomes of a call say about the destination: it is away, it is there, or nothing. */
export function signOfLife(outcomes: readonly Outcome[]): 'away' | 'there' | undefined {
  const heard = outcomes.filter(({ kind }) => kind !== 'skipped');
  if (heard.length === 0) return undefined;
  return heard.every(isOutage) ? 'away' : 'there';
}

function isOutage(outcome: Outcome): boolean {
  if (outcome.kind !== 'retry' || outcome.free) return false;
  const { status } = outcome;
  return status === undefined || status >= 500 || status === 408 || status === 425;
}
