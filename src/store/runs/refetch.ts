import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import type { Prepared, Tally } from '../../reconcile/incoming.ts';
import type { RunId } from '../../terms.ts';
import { type Pool, transaction } from '../db/pool.ts';
import { processedOf, settleDeadLetters } from '../operate/dead-letter-settle.ts';
import { applyPrepared } from '../records/apply.ts';

/** Applies one reservation that was requested by its id, as a separate, finished run, so that the timeline can show a cause. */
export function commitRefetch(
  pool: Pool,
  target: ApplyTarget,
  prepared: Prepared,
  { runId, by, bytes }: { readonly runId: RunId; readonly by: string; readonly bytes: number },
): Promise<Tally> {
  return transaction(pool, async (tx) => {
    const tally = await applyPrepared(tx, target, [prepared]);
    await settleDeadLetters(tx, target.integration, runId, processedOf([prepared], tally.outcomes));
    await tx.query(
      `insert into runs (integration, run_id, sync, kind, state, requested_by, started_at, finished_at, connector_version,
                         integration_version, pages, requests, bytes, rows, fetched, changed, unchanged, superseded, dropped, dead)
       values ($1, $2, 'backfill', 'manual', 'complete', $3, now(), now(), $4, $5, 1, 1, $6, 1, 1, $7, $8, $9, $10, $11)`,
      [
        target.integration,
        runId,
        by,
        target.connectorVersion,
        target.integrationVersion,
        bytes,
        tally.changed,
        tally.unchanged,
        tally.superseded,
        tally.dropped,
        tally.dead,
      ],
    );
    return tally;
  });
}
