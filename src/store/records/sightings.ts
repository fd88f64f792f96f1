import type { EpochMs, IntegrationName } from '../../terms.ts';
import { texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';

/** One row for all unchanged reservations of a page, instead of a write to each (bench/mechanisms.md, 11). */
export async function insertSighting(
  tx: Tx,
  integration: IntegrationName,
  requestedAt: EpochMs,
  runId: string,
  ids: readonly string[],
): Promise<void> {
  await tx.query({
    name: 'insert-sighting',
    text: 'insert into sightings (integration, requested_at, run_id, ids) values ($1, to_timestamp($2 / 1000.0), $3, $4::text[])',
    values: [integration, requestedAt, runId, texts(ids)],
  });
}
