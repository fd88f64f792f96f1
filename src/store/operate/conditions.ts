import type { Pool } from '../db/pool.ts';

/** The facts that decide about alerts, one statement each. */

interface FinishedRun {
  readonly integration: string;
  readonly sync: string;
  readonly state: string;
  readonly run_id: string;
  readonly error_code: string | null;
}

/** Syncs whose last finished run failed or is incomplete, of these brands or of all. Searches the failures, which are few, not the brands. */
export async function failedLastRuns(db: Pool, integrations: readonly string[] | undefined) {
  const { rows } = await db.query<FinishedRun>(
    `select r.integration, r.sync, r.state, r.run_id, r.error_code from runs r
      where r.state in ('incomplete', 'failed') and r.sync <> 'backfill' and r.queued_at > now() - interval '2 days'
        and ($1::text[] is null or r.integration = any($1))
        and not exists (select from runs n where n.integration = r.integration and n.sync = r.sync
                           and n.queued_at > r.queued_at and n.finished_at is not null)
      order by r.integration, r.sync`,
    [integrations ?? null],
  );
  return rows;
}

/** Brands with accepted events that are not processed yet. */
export async function pendingEvents(db: Pool, integrations: readonly string[] | undefined) {
  const { rows } = await db.query<{ integration: string; count: number; oldest_ms: number }>(
    `select integration, count(*)::int as count,
            (extract(epoch from now() - min(received_at)) * 1000)::float8 as oldest_ms from events
      where state = 'pending' and ($1::text[] is null or integration = any($1)) group by integration`,
    [integrations ?? null],
  );
  return rows;
}

export async function authFailures(db: Pool, integrations: readonly string[]) {
  const { rows } = await db.query<{ integration: string; message: string | null }>(
    `select integration, auth_message as message from partner_accounts where auth_failed_at is not null and integration = any($1)`,
    [integrations],
  );
  return rows;
}

export async function deadLetterGrowth(db: Pool) {
  const { rows } = await db.query<{ integration: string; last_hour: number; usual: number; open: number }>(
    `select integration, count(*) filter (where at > now() - interval '1 hour')::int as last_hour,
            (count(*) filter (where at <= now() - interval '1 hour' and at > now() - interval '25 hours') / 24.0)::float8 as usual,
            count(*) filter (where state = 'open')::int as open
       from dead_letters where state = 'open' or at > now() - interval '25 hours' group by integration`,
  );
  return rows;
}

export async function clockSkews(db: Pool) {
  const { rows } = await db.query<{ integration: string; refused: number; ahead: number; taken: number }>(
    `select integration, sum(refused)::int as refused, sum(ahead)::int as ahead, sum(taken)::int as taken from (
       select integration, sum(count) as refused, 0 as ahead, 0 as taken from rejections
        where reason in ('timestamp_old', 'timestamp_ahead') and hour >= date_trunc('hour', now()) - interval '1 hour'
          and integration <> '' group by integration
       union all
       select integration, 0, count(*) filter (where occurred_at > received_at + interval '1 minute'), count(*) from events
        where received_at > now() - interval '1 hour' group by integration) t
      group by integration having sum(refused) > 0 or sum(ahead) > 0`,
  );
  return rows;
}

/** Running nodes whose clock differs from the database's by more than the tolerance. */
export async function nodeClocks(db: Pool, toleranceMs: number) {
  const { rows } = await db.query<{ node: string; ahead_ms: number }>(
    `select node, clock_ahead_ms as ahead_ms from nodes
      where abs(clock_ahead_ms) > $1 and seen_at > now() - interval '1 minute'`,
    [toleranceMs],
  );
  return rows;
}

export interface Habit {
  readonly integration: string;
  readonly feed: 'push' | 'pull';
  readonly last_at: Date;
  readonly hours: readonly { readonly at: number; readonly count: number }[];
}

/** Feeds without data for at least `quietMs`, each with its hourly counts of the last four weeks. */
export async function quietFeeds(
  db: Pool,
  pushing: readonly string[],
  pulling: readonly string[],
  quietMs: number,
): Promise<Habit[]> {
  const { rows } = await db.query<Habit>(
    `with last as (
       select n as integration, 'push' as feed,
              (select e.received_at from events e where e.integration = n order by e.seq desc limit 1) as last_at
         from unnest($1::text[]) as n
       union all
       -- From the counts, not from the runs: a brand has thousands of runs in four weeks.
       select n, 'pull', greatest(
                (select a.at + interval '1 hour' from activity a where a.integration = n and a.step = '1h' and a.pulls > 0
                    and a.at > now() - interval '28 days' order by a.at desc limit 1),
                (select a.at + interval '10 seconds' from activity a where a.integration = n and a.step = '10s' and a.pulls > 0
                  order by a.at desc limit 1))
         from unnest($2::text[]) as n
     )
     select l.integration, l.feed, l.last_at,
            coalesce((select json_agg(json_build_object('at', extract(epoch from a.at) * 1000, 'count', c.count) order by a.at)
               from activity a, lateral (select case when l.feed = 'push' then a.events else a.pulls end as count) c
              where a.integration = l.integration and a.step = '1h' and a.at > now() - interval '28 days' and c.count > 0), '[]') as hours
       from last l where l.last_at < now() - $3 * interval '1 ms'`,
    [pushing, pulling, quietMs],
  );
  return rows;
}
