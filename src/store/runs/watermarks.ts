import type { EpochMs, IntegrationName, SyncType } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';

/**
 * When the last complete run of the sync began; undefined before the first, and if that run read another feed. A run of an earlier
 * release, or one past its retention, does not tell its feed.
 */
export async function readWatermark(
  pool: Pool,
  integration: IntegrationName,
  sync: SyncType,
  feed: number,
): Promise<EpochMs | undefined> {
  const { rows } = await pool.query<{ ms: number }>(
    `select extract(epoch from at)::float8 * 1000 as ms from watermarks
      where integration = $1 and sync = $2
        and coalesce((select (position ->> 'feed')::float8 from runs
                       where integration = $1 and sync = $2 and state = 'complete' and position ? 'startedAt'
                       order by queued_at desc limit 1), $3) = $3::float8`,
    [integration, sync, feed],
  );
  return rows[0]?.ms;
}
