import type { Arrival, Outcome, Statement } from '../../reconcile/forms.ts';
import type { EpochMs, IntegrationName } from '../../terms.ts';
import { rowsTable } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';

/** A pulled record that was processed: stored, unchanged, superseded or dropped by a rule. */
export interface Processed {
  readonly id: string;
  readonly requestedAt: EpochMs;
  readonly mode: Arrival['mode'];
}

export function processedOf(statements: readonly Statement[], outcomes: readonly Outcome[]): Processed[] {
  return outcomes.flatMap(({ outcome, id }, i) => {
    const arrival = statements[i]?.arrival;
    if (outcome === 'dead' || id === undefined || arrival === undefined) return [];
    return [{ id, requestedAt: arrival.effectiveAt, mode: arrival.mode }];
  });
}

const done = rowsTable(3, { text: ['id', 'mode'], float8: ['ms'] });

/**
 * Closes the dead letters of pulled records that a later answer of the partner corrected: a replay would only bring back an older state.
 * A row of a list says everything, so it settles both kinds; an answer for one reservation may lack fields of the list's row and
 * settles only the dead letter of such an answer. Events are left: an event may carry fields that no later message has.
 */
export async function settleDeadLetters(
  tx: Tx,
  integration: IntegrationName,
  runId: string,
  processed: readonly Processed[],
): Promise<void> {
  if (processed.length === 0) return;
  await tx.query({
    name: 'settle-dead-letters',
    // `exists` is evaluated once: a brand without open dead letters pays one index lookup per page.
    // A lateral lookup per record forces an index: after a wrong mapping, a brand may have very many open dead letters.
    text: `
     update dead_letters d
        set state = 'dropped', closed_at = now(), closed_by = 'run',
            closed_reason = 'Corrected: run ' || $2 || ' brought a later state of this record, and it was processed.'
       from ${done.sql}
      cross join lateral (
            select integration, dead_letter_id from dead_letters
             where integration = (select $1::text) and kind = 'record' and fingerprint = t.id and state = 'open' limit 1) found
      where exists (select from dead_letters where integration = $1 and kind = 'record' and state = 'open')
        and d.integration = found.integration and d.dead_letter_id = found.dead_letter_id
        and (t.mode <> 'single' or d.detail -> 'requested_by_id' = 'true')
        and to_timestamp(t.ms / 1000.0) > coalesce(
              (select max(r.effective_at) from history r
                where r.integration = d.integration and r.type = d.type and r.id = d.id
                  and r.outcome = 'dead' and r.cause_id = d.cause_id),
              d.last_at)`,
    values: [
      integration,
      runId,
      ...done.values(processed.map(({ id, requestedAt, mode }) => ({ id, ms: requestedAt, mode }))),
    ],
  });
}
