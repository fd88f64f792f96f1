import { percentileMs } from '../../kit/histogram.ts';
import { type Pool, transaction, type UnreadRow } from '../db/pool.ts';

/** A transaction that began in a bucket may commit a little after its end. */
const settleMs = 3_000;
/** After a downtime of all nodes, at most this many ten-second buckets are counted late. Hours are counted in full. */
const mostBuckets = 90;

/**
 * Counts the events, pulls and changes of the buckets that ended since the last call, each once, on one node at a time; what was
 * delivered, each node adds itself (tally.ts). Returns the number of buckets. Rows that a very long transaction commits late are missing
 * from the ten-second buckets, but not from the hours, which are counted later.
 */
export async function countActivity(pool: Pool): Promise<number> {
  return transaction(pool, async (tx) => {
    const { rows } = await tx.query<{ mine: boolean }>(
      `select pg_try_advisory_xact_lock(hashtextextended('activity', 0)) as mine`,
    );
    if (rows[0]?.mine !== true) return 0;
    const { rows: buckets } = await tx.query<{ from: Date; to: Date; step: '10s' | '1h' }>(
      `with ends as (
         select '10s' as step, interval '10 seconds' as size,
                to_timestamp(floor(extract(epoch from now() - $1 * interval '1 ms') / 10) * 10) as until, $2::int as most
         union all
         select '1h', interval '1 hour', date_trunc('hour', now() - interval '5 minutes'), 800
       ), froms as (
         select e.*, greatest(coalesce(m.at, case when e.step = '10s' then e.until - interval '10 minutes'
                                else date_trunc('hour', least((select min(received_at) from events),
                                                              (select min(queued_at) from runs), e.until)) end),
                              e.until - e.most * e.size) as since
           from ends e left join marks m on m.name = 'activity ' || e.step
       )
       select step, b as "from", b + size as "to" from froms, generate_series(since, until - size, size) as b order by 2`,
      [settleMs, mostBuckets],
    );
    for (const { step, from, to } of buckets) await countBucket(tx, step, from, to);
    for (const step of ['10s', '1h'] as const) {
      const last = buckets.findLast((bucket) => bucket.step === step);
      if (!last) continue;
      await tx.query(`insert into marks (name, at) values ($1, $2) on conflict (name) do update set at = excluded.at`, [
        `activity ${step}`,
        last.to,
      ]);
    }
    return buckets.length;
  });
}

/**
 * True once per interval, on one node: the node that moves the mark does the work. With a lease the mark lasts that long only, until
 * `keepMark` says that the work is done: work that was not done is claimed again.
 */
export async function claimMark(pool: Pool, name: string, everyMs: number, leaseMs = everyMs): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into marks as m (name, at) values ($1, now() + $3 * interval '1 ms')
     on conflict (name) do update set at = excluded.at where m.at <= now() - $2 * interval '1 ms'`,
    [name, everyMs, leaseMs - everyMs],
  );
  return rowCount === 1;
}

export const keepMark = (pool: Pool, name: string) => pool.query('update marks set at = now() where name = $1', [name]);

async function countBucket(tx: Parameters<Parameters<typeof transaction>[1]>[0], step: string, from: Date, to: Date) {
  await tx.query(
    `with counted as (
       select integration, sum(events) as events, sum(pulls) as pulls, sum(changes) as changes, sum(waiting) as waiting,
              sum(rows) as rows, sum(run_ms) as run_ms, sum(dead_rows) as dead_rows, sum(dead_events) as dead_events
         from (
           select integration, count(*)::int as events, 0 as pulls, 0 as changes, 0 as waiting, 0 as rows, 0 as run_ms,
                  0 as dead_rows, count(*) filter (where state = 'dead') as dead_events
             from events where received_at >= $2 and received_at < $3 group by integration
           union all
           select integration, 0, count(*)::int, 0, 0, sum(fetched), sum(extract(epoch from finished_at - started_at) * 1000),
                  sum(dead), 0
             from runs where finished_at >= $2 and finished_at < $3 and fetched > 0 and sync <> 'backfill' group by integration
           union all
           select integration, 0, 0, count(*)::int, 0, 0, 0, 0, 0
             from history where at >= $2 and at < $3 and diff is not null group by integration
           union all
           select integration, 0, 0, 0, count(*)::int, 0, 0, 0, 0 from outbox
            where due_at is not null and destination not like 'innbound:%' and $1 = '10s' and now() - $3 < interval '30 seconds'
            group by integration
           union all
           -- The highest backlog of the hour's ten-second steps.
           select integration, 0, 0, 0, max(waiting), 0, 0, 0, 0
             from activity where $1 = '1h' and step = '10s' and at >= $2 and at < $3 and waiting > 0 group by integration
         ) one group by integration
     ), added as (
       insert into activity as a (integration, step, at, events, pulls, changes, waiting, rows, run_ms, dead_rows, dead_events)
       select integration, $1, $2, events, pulls, changes, waiting, rows, run_ms, dead_rows, dead_events from counted
           on conflict (integration, step, at) do update
          set events = excluded.events, pulls = excluded.pulls, changes = excluded.changes, waiting = excluded.waiting,
              rows = excluded.rows, run_ms = excluded.run_ms, dead_rows = excluded.dead_rows, dead_events = excluded.dead_events)
     insert into activity as a (integration, step, at, events, changes)
     select integration, 'ever', 'epoch', events, changes from counted where $1 = '10s'
         on conflict (integration, step, at) do update set events = a.events + excluded.events, changes = a.changes + excluded.changes`,
    [step, from, to],
  );
}

export interface Activity {
  /** Oldest first. Buckets without activity are absent. */
  readonly points: readonly UnreadRow[];
  /** The end of the last counted bucket: an absent bucket before it was empty, one after it is not counted yet. */
  readonly countedUntil: Date | null;
}

/**
 * The steps of a period, by brand. The hour that is not counted yet comes from its ten-second steps; deliveries are added to their hour
 * at once. Parameters: the step, the period in milliseconds, the brands or null.
 */
const chosen = `select integration, at, sum(events)::int as events, sum(pulls)::int as pulls, sum(changes)::int as changes,
        sum(delivered)::int as delivered, sum(retried)::int as retried, sum(dead)::int as dead, max(waiting) as waiting
   from (select integration, at, events, pulls, changes, delivered, retried, dead, waiting from activity
          where step = $1 and at >= now() - $2 * interval '1 ms'
         union all
         select integration, date_trunc('hour', at), events, pulls, changes, 0, 0, 0, waiting from activity
          where $1 = '1h' and step = '10s' and at >= coalesce((select at from marks where name = 'activity 1h'), '-infinity')) steps
  where $3::text[] is null or integration = any($3) group by integration, at`;

/** The summed points of some brands. */
export async function readActivity(
  db: Pool,
  step: '10s' | '1h',
  sinceMs: number,
  integrations: readonly string[] | undefined,
): Promise<Activity> {
  // Read first: a bucket that is counted in between is then among the points and not said to be empty.
  const { rows: marks } = await db.query<{ at: Date }>(`select at from marks where name = 'activity 10s'`);
  const { rows } = await db.query<UnreadRow & { latency: readonly number[] }>(
    `with chosen as (${chosen}), summed as (
       select at, array_agg(count order by bucket) as latency
         from (select at, bucket, sum(count)::int as count from activity, unnest(latency) with ordinality as l (count, bucket)
                where step = $1 and at >= now() - $2 * interval '1 ms' and ($3::text[] is null or integration = any($3))
                group by at, bucket) l group by at
     )
     select at, sum(events)::int as events, sum(pulls)::int as pulls, sum(changes)::int as changes,
            sum(delivered)::int as delivered, sum(retried)::int as retried, sum(dead)::int as dead,
            coalesce(s.latency, '{}') as latency, sum(waiting)::int as waiting
       from chosen left join summed s using (at) group by at, s.latency order by at`,
    [step, sinceMs, integrations ?? null],
  );
  const points = rows.map((row) => ({
    ...row,
    latency_p50_ms: percentileMs(row.latency, 0.5),
    latency_p95_ms: percentileMs(row.latency, 0.95),
  }));
  return { points, countedUntil: marks[0]?.at ?? null };
}

/** What happened to a brand since a time. */
export interface BrandActivity {
  readonly integration: string;
  readonly events: number;
  readonly changes: number;
}

/** Brands to which nothing happened are absent. */
export async function readBrandActivity(
  db: Pool,
  step: '10s' | '1h',
  sinceMs: number,
  integrations: readonly string[] | undefined,
): Promise<BrandActivity[]> {
  const { rows } = await db.query<BrandActivity>(
    `select integration, sum(events)::int as events, sum(changes)::int as changes from (${chosen}) c group by integration`,
    [step, sinceMs, integrations ?? null],
  );
  return rows;
}

/** What flowed between two times, by whole hours as far as they are counted. */
export async function readFlow(db: Pool, from: Date, to: Date, integrations: readonly string[] | undefined) {
  const { rows } = await db.query<UnreadRow>(
    `with own as (select * from activity where at >= date_trunc('hour', $1::timestamptz) and at < $2 and ($3::text[] is null or integration = any($3))),
     counted as (select coalesce((select at from marks where name = 'activity 1h'), '-infinity') as at),
     finished as (select state from runs where finished_at between $1 and $2 and ($3::text[] is null or integration = any($3)))
     select coalesce(sum(events) filter (where step = '1h' or own.at >= counted.at), 0)::int as events,
            coalesce(sum(changes) filter (where step = '1h' or own.at >= counted.at), 0)::int as changes,
            coalesce(sum(delivered) filter (where step = '1h'), 0)::int as delivered,
            coalesce(sum(dead) filter (where step = '1h'), 0)::int as dead,
            (select count(*) from finished where state = 'complete')::int as complete_runs,
            (select count(*) from finished where state <> 'complete')::int as failed_runs,
            (select coalesce(sum(count), 0) from rejections where hour >= date_trunc('hour', $1::timestamptz) and hour < $2
                and integration <> '' and code <> 'push.event_id_reused' and ($3::text[] is null or integration = any($3)))::int as refused_events
       from counted left join own on step <> 'ever'`,
    [from, to, integrations ?? null],
  );
  return rows[0] as UnreadRow;
}

type BrandDay = UnreadRow & { readonly integration: string };

/**
 * Days in UTC: from the counted hours, and from the ten-second buckets of the hours that are not counted yet; with what failed: runs,
 * refused webhooks, and dead letters.
 */
export async function readDays(db: Pool, integrations: readonly string[], days: number): Promise<BrandDay[]> {
  const { rows } = await db.query<BrandDay>(
    `with hours as (
       select integration, date_trunc('hour', at) as hour, sum(pulls) as pulls, sum(events) as events from activity
        where integration = any($1) and at >= date_trunc('day', now()) - ($2 - 1) * interval '1 day'
          and (step = '1h' or at >= coalesce((select at from marks where name = 'activity 1h'), '-infinity'))
        group by 1, 2
     ), firsts as (select integration, min(hour) as first from hours group by 1),
     failures as (
       select integration, date_trunc('day', at, 'UTC') as day, sum(runs)::int as failed_runs, sum(refused)::int as refused_events,
              sum(dead)::int as dead_letters
         from (select integration, finished_at as at, 1 as runs, 0 as refused, 0 as dead from runs
                where integration = any($1) and state in ('failed', 'incomplete') and queued_at >= now() - $2 * interval '1 day'
               union all
               select integration, hour, 0, count, 0 from rejections
                where integration = any($1) and code <> 'push.event_id_reused'
               union all
               select integration, at, 0, 0, 1 from dead_letters where integration = any($1) and at >= now() - $2 * interval '1 day') f
        group by 1, 2
     )
     select hours.integration, to_char(date_trunc('day', hour, 'UTC') at time zone 'UTC', 'YYYY-MM-DD') as day,
            ceil(extract(epoch from least(now(), date_trunc('day', hour, 'UTC') + interval '1 day')
                                    - greatest(min(first), date_trunc('day', hour, 'UTC'))) / 3600)::int as hours,
            (count(*) filter (where pulls > 0))::int as pulled_hours, sum(events)::int as events,
            coalesce(max(failed_runs), 0) as failed_runs, coalesce(max(refused_events), 0) as refused_events,
            coalesce(max(dead_letters), 0) as dead_letters
       from hours join firsts using (integration)
       left join failures f on f.integration = hours.integration and f.day = date_trunc('day', hour, 'UTC')
      group by hours.integration, date_trunc('day', hour, 'UTC') order by 1, 2`,
    [integrations, days],
  );
  return rows;
}

export interface Spark {
  readonly integration: string;
  readonly points: readonly { readonly at: string; readonly changes: number; readonly events: number }[];
}

/** A sparkline per brand: changes in steps of five minutes, or of one hour for ranges over three hours. */
export async function readSparks(db: Pool, integrations: readonly string[], sinceMs: number): Promise<Spark[]> {
  const step = sinceMs > 3 * 3_600_000 ? '1h' : '10s';
  const { rows } = await db.query<Spark>(
    `select integration, json_agg(json_build_object('at', at, 'changes', changes, 'events', events) order by at) as points
       from (select integration, date_bin(case when $3 = '1h' then interval '1 hour' else interval '5 minutes' end, at, 'epoch') as at,
                    sum(changes) as changes, sum(events) as events
               from activity where step = $3 and at >= now() - $2 * interval '1 ms' and integration = any($1)
              group by 1, 2) t group by integration`,
    [integrations, sinceMs, step],
  );
  return rows;
}

export async function pruneActivity(db: Pool): Promise<void> {
  await db.query(
    `delete from activity where (step = '10s' and at < now() - interval '3 hours') or (step = '1h' and at < now() - interval '60 days')`,
  );
}
