import type { EpochMs, IntegrationName, SyncType } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';

/** When the last complete run of the sync began; undefined before the first, and if that run read another feed. */
export async function readWatermark(
  pool: Pool,
  integration: IntegrationName,
  sync: SyncType,
  feed: number,
): Promise<EpochMs | undefined> {
  const { rows } = await pool.query<{ ms: number }>(
    `select extract(epoch from read_at)::float8 * 1000 as ms from syncs where integration = $1 and sync = $2 and feed = $3`,
    [integration, sync, feed],
  );
  return rows[0]?.ms;
}
