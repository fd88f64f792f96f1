import { systemClock } from '../../../kit/clock.ts';
import { timedId } from '../../../kit/ids.ts';
import type { IntegrationName, SyncType } from '../../../terms.ts';
import { columnsOf } from '../db/columns.ts';
import { cellOf, type Pool, transaction } from '../db/pool.ts';

export interface Schedule {
  readonly integration: IntegrationName;
  readonly sync: SyncType;
  readonly everyMs: number;
}

/**
 * Updates the table from the documents. A sync that is new or has a new interval gets its place in the interval (`phase_ms`, from a
 * hash of its name, the same on every node); the others keep theirs. The first start of new syncs is early but spread: one brand
 * starts within seconds, a thousand over their interval. `gone`: those that are no longer scheduled, by default all others; with 300,000
 * schedules, a change of a few then touches only these.
 */
export async function alignSchedules(
  pool: Pool,
  schedules: readonly Schedule[],
  gone?: readonly Schedule[],
): Promise<void> {
  await transaction(pool, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('schedules', 0))`);
    await tx.query(
      `update syncs s set every_ms = null, next_at = null where next_at is not null and ${gone ? '' : 'not'} exists (
         select from unnest($1::text[], $2::text[]) as t (integration, sync) where t.integration = s.integration and t.sync = s.sync)`,
      columnsOf(gone ?? schedules, 'integration', 'sync'),
    );
    await tx.query(
      `with changed as (
         select t.integration, t.sync, t.every_ms,
                (abs(hashtextextended(t.integration || ' ' || t.sync, 0) % t.every_ms))::int as phase_ms
           from unnest($1::text[], $2::text[], $3::int[]) as t (integration, sync, every_ms)
           left join syncs s on s.integration = t.integration and s.sync = t.sync
          where s.every_ms is distinct from t.every_ms
       )
       insert into syncs as s (integration, sync, every_ms, phase_ms, next_at)
       select integration, sync, every_ms, phase_ms,
              now() + phase_ms::float8 / every_ms * least(every_ms, 1000 * (select count(*) from changed)) * interval '1 ms'
         from changed
       on conflict (integration, sync) do update
          set every_ms = excluded.every_ms, phase_ms = excluded.phase_ms, next_at = least(s.next_at, excluded.next_at)`,
      columnsOf(schedules, 'integration', 'sync', 'everyMs'),
    );
  });
}

/** Milliseconds until the next sync is due; undefined if none is scheduled. */
export async function msToNextStart(pool: Pool): Promise<number | undefined> {
  const ms = await cellOf(pool)<number>('select extract(epoch from min(next_at) - now())::float8 * 1000 from syncs');
  return ms == null ? undefined : Math.max(0, Math.ceil(ms));
}

/**
 * Queues due syncs, at most `most` at a time, and moves each to its next start. Left out are syncs with an active run, which counts as
 * skipped, brands whose credentials were refused (until they work or the document changes) and brands paused by an operator.
 */
export async function startDue(pool: Pool, most: number): Promise<{ started: number; seen: number }> {
  return transaction(pool, async (tx) => {
    const { rows: due } = await tx.query<{ integration: IntegrationName; sync: SyncType }>(
      `with due as (
         select integration, sync from syncs where next_at <= now() order by next_at limit $1 for update skip locked
       )
       update syncs s
          set next_at = to_timestamp((floor((extract(epoch from now()) * 1000 - s.phase_ms) / s.every_ms) + 1) * s.every_ms / 1000.0
                                     + s.phase_ms / 1000.0)
         from due where s.integration = due.integration and s.sync = due.sync
       returning s.integration, s.sync`,
      [most],
    );
    if (due.length === 0) return { started: 0, seen: 0 };
    const now = systemClock.now();
    const { rows: queued } = await tx.query<{ integration: string; sync: string }>(
      `insert into runs (integration, run_id, sync, kind, state, requested_by, due_at)
       select t.integration, t.run_id, t.sync, 'scheduled', 'queued', 'schedule', now()
         from unnest($1::text[], $2::text[], $3::text[]) as t (integration, sync, run_id)
        where not exists (
          select from partner_accounts a
            left join documents d on d.kind = 'integration' and d.name = a.integration and d.in_force
           where a.integration = t.integration
             and (a.paused_at is not null or (a.auth_failed_at is not null and a.auth_failed_version = d.version)))
       on conflict (integration, sync) where state in ('queued', 'running') do nothing
       returning integration, sync`,
      [...columnsOf(due, 'integration', 'sync'), due.map(() => timedId('run', now))],
    );
    const started = new Set(queued.map(({ integration, sync }) => `${integration} ${sync}`));
    const others = due.filter(({ integration, sync }) => !started.has(`${integration} ${sync}`));
    await tx.query(
      `update syncs s set skipped = s.skipped + 1
         from unnest($1::text[], $2::text[]) as t (integration, sync)
         join runs r on r.integration = t.integration and r.sync = t.sync and r.state in ('queued', 'running')
        where s.integration = t.integration and s.sync = t.sync`,
      columnsOf(others, 'integration', 'sync'),
    );
    return { started: queued.length, seen: due.length };
  });
}
