import type { Timers } from '../../../kit/clock.ts';
import { onlyRow, type Pool } from '../db/pool.ts';

/** Small batches, so that no statement holds its locks for long. */
const batch = 1_000;

interface EventRetention {
  readonly rawMs: number;
  readonly eventIdsMs: number;
}

const fullPassMs = 24 * 3_600_000;
/** Longer than the time between two passes. */
const overdueMs = 2 * 3_600_000;

/**
 * For repeated passes. To find the bodies that are past their retention, a full pass reads all events that are kept for their ids. It
 * is done first, after a change of the setting, and once a day, for bodies that an open dead letter kept. The other passes read the events
 * whose retention ended in the last hours.
 */
export function eventPruner(pool: Pool, clock: Pick<Timers, 'uptimeMs'>) {
  let full = { atMs: Number.NEGATIVE_INFINITY, rawMs: 0 };
  return async (kept: EventRetention, pause?: () => Promise<void>): Promise<{ bodies: number; events: number }> => {
    const startedAtMs = clock.uptimeMs();
    const isFull = startedAtMs >= full.atMs + fullPassMs || kept.rawMs !== full.rawMs;
    const pruned = await pruneEvents(pool, kept, pause, isFull ? undefined : overdueMs);
    if (isFull) full = { atMs: startedAtMs, rawMs: kept.rawMs };
    return pruned;
  };
}

/**
 * Deletes processed events: first their bodies, later the rows with their ids. Pending events never expire, and an event with
 * an open dead letter keeps its body for the replay. With `bodiesOverdueMs`, bodies whose retention ended
 * longer ago are left.
 */
export async function pruneEvents(
  pool: Pool,
  { rawMs, eventIdsMs }: EventRetention,
  pause: () => Promise<void> = async () => {},
  bodiesOverdueMs?: number,
): Promise<{ bodies: number; events: number }> {
  const finished = `state in ('done', 'dead') and not exists (
    select 1 from dead_letters d
     where d.integration = e.integration and d.kind = 'event' and d.fingerprint = e.seq::text and d.state = 'open')`;
  /** Each batch begins where the last one ended: what that one left, or left behind as dead rows, is not read again. */
  const inBatches = async (
    change: string,
    condition: string,
    keptMs: number,
    mostOverdueMs?: number,
  ): Promise<number> => {
    let total = 0;
    let from = '-infinity';
    for (;;) {
      const { read, last } = await onlyRow(pool)<{ read: number; last: string | null }>(
        `with old as materialized (
           select integration, seq, received_at from events e
            where received_at < now() - make_interval(secs => $1) and received_at >= $3
              and received_at >= coalesce(now() - make_interval(secs => $4), '-infinity') and ${condition}
            order by received_at limit $2 for update skip locked
         ), changed as (${change} where e.integration = old.integration and e.seq = old.seq)
         select count(*)::int as read, max(received_at)::text as last from old`,
        [keptMs / 1000, batch, from, mostOverdueMs === undefined ? null : (keptMs + mostOverdueMs) / 1000],
      );
      total += read;
      if (read < batch) return total;
      from = last ?? from;
      await pause();
    }
  };
  const events = await inBatches('delete from events e using old', finished, Math.max(rawMs, eventIdsMs));
  if (rawMs >= eventIdsMs) return { bodies: 0, events };
  const bodies = await inBatches(
    'update events e set body = null, hydrated = null from old',
    `body is not null and ${finished}`,
    rawMs,
    bodiesOverdueMs,
  );
  return { bodies, events };
}
