import type { Pool } from '../db/pool.ts';

/** Small batches, so that no statement holds its locks for long. */
const batch = 1_000;

/**
 * Deletes processed events: first their bodies, later the rows with their ids. Pending events never expire, and an event with
 * an open dead letter keeps its body for the replay.
 */
export async function pruneEvents(
  pool: Pool,
  { rawMs, eventIdsMs }: { rawMs: number; eventIdsMs: number },
  pause: () => Promise<void> = async () => {},
): Promise<{ bodies: number; events: number }> {
  const finished = `state in ('done', 'dead') and not exists (
    select 1 from dead_letters d
     where d.integration = e.integration and d.kind = 'event' and d.fingerprint = e.seq::text and d.state = 'open')`;
  const inBatches = async (sql: string, keptMs: number): Promise<number> => {
    let total = 0;
    for (;;) {
      const { rowCount } = await pool.query(sql, [keptMs / 1000, batch]);
      total += rowCount ?? 0;
      if ((rowCount ?? 0) < batch) return total;
      await pause();
    }
  };
  const events = await inBatches(
    `delete from events using (
       select integration, seq from events e
        where received_at < now() - make_interval(secs => $1) and ${finished}
        order by received_at limit $2 for update skip locked) old
      where events.integration = old.integration and events.seq = old.seq`,
    Math.max(rawMs, eventIdsMs),
  );
  if (rawMs >= eventIdsMs) return { bodies: 0, events };
  const bodies = await inBatches(
    `update events set body = null, hydrated = null
       from (select integration, seq from events e
              where received_at < now() - make_interval(secs => $1) and body is not null and ${finished}
              order by received_at limit $2 for update skip locked) old
      where events.integration = old.integration and events.seq = old.seq`,
    rawMs,
  );
  return { bodies, events };
}
