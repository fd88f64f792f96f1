import type { Brand } from '../../brand/brand.ts';
import type { Statement, Tally } from '../../reconcile/forms.ts';
import type { RunId } from '../../terms.ts';
import { type Pool, transaction } from '../db/pool.ts';
import { processedOf, settleDeadLetters } from '../operate/dead-letter-settle.ts';
import { take } from '../records/take.ts';

/** Applies one reservation that was requested by its id, as a separate, finished run, so that the timeline can show a cause. */
export function commitRefetch(
  pool: Pool,
  brand: Brand,
  statement: Statement,
  { runId, by, bytes }: { readonly runId: RunId; readonly by: string; readonly bytes: number },
): Promise<Tally> {
  return transaction(pool, async (tx) => {
    const tally = await take(tx, brand, [statement]);
    await settleDeadLetters(tx, brand.integration, runId, processedOf([statement], tally.outcomes));
    await tx.query(
      `insert into runs (integration, run_id, sync, kind, state, requested_by, started_at, finished_at, connector_version,
                         integration_version, pages, requests, bytes, rows, fetched, changed, unchanged, superseded, dropped, dead)
       values ($1, $2, 'backfill', 'manual', 'complete', $3, now(), now(), $4, $5, 1, 1, $6, 1, 1, $7, $8, $9, $10, $11)`,
      [
        brand.integration,
        runId,
        by,
        brand.connectorVersion,
        brand.integrationVersion,
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
