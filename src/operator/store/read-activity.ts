import { cellOf, onlyRow, type Pool, rowsOf, type UnreadRow } from '../../core/store/db/pool.ts';
import { percentileMs } from '../../kit/histogram.ts';
import type { FeedDay } from '../watch/feed.ts';

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
  const countedUntil = (await cellOf(db)<Date>(`select at from marks where name = 'activity 10s'`)) ?? null;
  const rows = await rowsOf(db)<UnreadRow & { latency: readonly number[] }>(
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
    [step, sinceMs, integrations],
  );
  const points = rows.map((row) => ({
    ...row,
    latency_p50_ms: percentileMs(row.latency, 0.5),
    latency_p95_ms: percentileMs(row.latency, 0.95),
  }));
  return { points, countedUntil };
}

/** What happened to a brand since a time. */
interface BrandActivity {
  readonly integration: string;
  readonly events: number;
  readonly changes: number;
  /** Something happened in the last minute. */
  readonly moves: boolean;
}

/** Brands to which nothing happened are absent. */
export const readBrandActivity = (
  db: Pool,
  step: '10s' | '1h',
  sinceMs: number,
  integrations: readonly string[] | undefined,
): Promise<BrandActivity[]> =>
  rowsOf(db)(
    `select integration, sum(events)::int as events, sum(changes)::int as changes,
            exists (select from activity a where a.integration = c.integration and a.step = '10s' and a.at > now() - interval '75 seconds'
                       and a.events + a.changes > 0) as moves
       from (${chosen}) c group by integration`,
    [step, sinceMs, integrations],
  );

/** What flowed between two times, by whole hours as far as they are counted. */
export async function readFlow(db: Pool, from: Date, to: Date, integrations: readonly string[] | undefined) {
  return onlyRow(db)<UnreadRow>(
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
       from counted left join own on step in ('10s', '1h')`,
    [from, to, integrations],
  );
}

type BrandDay = UnreadRow & { readonly integration: string };

/**
 * Days in UTC: from the counted hours, and from the ten-second buckets of the hours that are not counted yet; with what failed: runs,
 * refused webhooks, and dead letters.
 */
export const readDays = (db: Pool, integrations: readonly string[], days: number): Promise<BrandDay[]> =>
  rowsOf(db)(
    `with hours as (
       select integration, date_trunc('hour', at) as hour, sum(pulls) as pulls, sum(events) as events from activity
        where integration = any($1) and at >= date_trunc('day', now()) - ($2 - 1) * interval '1 day'
          and (step = '1h' or (step = '10s' and at >= coalesce((select at from marks where name = 'activity 1h'), '-infinity')))
        group by 1, 2
     ), firsts as (select integration, min(hour) as first from hours group by 1),
     failures as (
       select integration, date_trunc('day', at, 'UTC') as day, sum(runs)::int as failed_runs, sum(refused)::int as refused_events,
              sum(dead)::int as dead_letters, sum(unlisted)::int as unlisted, min(min(at)) over (partition by integration) as failed
         from (select integration, finished_at as at, 1 as runs, 0 as refused, 0 as dead, 0 as unlisted from runs
                where integration = any($1) and state in ('failed', 'incomplete') and queued_at >= now() - $2 * interval '1 day'
               union all
               select integration, hour, 0, count, 0, 0 from rejections
                where integration = any($1) and code <> 'push.event_id_reused'
               union all
               select integration, at, 0, 0, 1, 0 from dead_letters where integration = any($1) and at >= now() - $2 * interval '1 day'
               union all
               select integration, (unlisted ->> 'since')::timestamptz, 0, 0, 0, 1 from records
                where integration = any($1) and unlisted is not null) f
        group by 1, 2
     )
     -- A brand that only fails has no hours, and its days are not blank.
     , days as (
       select integration, date_trunc('day', hour, 'UTC') as day, (count(*) filter (where pulls > 0))::int as pulled_hours,
              sum(events)::int as events from hours group by 1, 2
     )
     select integration, to_char(day at time zone 'UTC', 'YYYY-MM-DD') as day,
            ceil(extract(epoch from least(now(), day + interval '1 day') - greatest(coalesce(least(first, failed), day), day)) / 3600)::int as hours,
            coalesce(pulled_hours, 0) as pulled_hours, coalesce(events, 0) as events, coalesce(failed_runs, 0) as failed_runs,
            coalesce(refused_events, 0) as refused_events, coalesce(dead_letters, 0) as dead_letters, coalesce(unlisted, 0) as unlisted
       from days full join failures using (integration, day) left join firsts using (integration)
      where day >= date_trunc('day', now(), 'UTC') - ($2 - 1) * interval '1 day' order by 1, 2`,
    [integrations, days],
  );

/** A sparkline per brand: changes in steps of five minutes, or of one hour for ranges over three hours. */
export async function readSparks(db: Pool, integrations: readonly string[], sinceMs: number): Promise<UnreadRow[]> {
  const step = sinceMs > 3 * 3_600_000 ? '1h' : '10s';
  return rowsOf(db)(
    `select integration, json_agg(json_build_object('at', at, 'changes', changes, 'events', events) order by at) as points
       from (select integration, date_bin(case when $3 = '1h' then interval '1 hour' else interval '5 minutes' end, at, 'epoch') as at,
                    sum(changes) as changes, sum(events) as events
               from activity where step = $3 and at >= now() - $2 * interval '1 ms' and integration = any($1)
              group by 1, 2) t group by integration`,
    [integrations, sinceMs, step],
  );
}

const sums = `sum(events)::int as events, sum(pulls)::int as runs, sum(rows)::int as rows, sum(run_ms)::float8 as run_ms,
            sum(dead_rows)::int as dead_rows, sum(dead_events)::int as dead_events`;
/** The end of the last counted hour. */
const counted = `(select at from marks where name = 'activity 1h')`;

interface FeedWeek extends FeedDay {
  readonly integration: string;
  /** 0: the last 24 counted hours; 1 to 4: the same hours so many weeks ago. */
  readonly week: number;
}

/** Of all brands: 120 of the hours of the last four weeks. Five ranges of an index; once an hour. */
export const feedWeeks = (db: Pool): Promise<FeedWeek[]> =>
  rowsOf(db)(
    `select a.integration, w.week, ${sums} from generate_series(0, 4) as w (week) cross join lateral (select ${counted} as at) c
       join activity a on a.step = '1h' and a.at >= c.at - w.week * interval '168 hours' - interval '24 hours'
                                        and a.at < c.at - w.week * interval '168 hours'
      group by 1, 2`,
  );

/** The last 29 days of one brand, oldest first; each is 24 hours that end with the last counted one. */
export const feedDays = (db: Pool, integration: string): Promise<FeedDay[]> =>
  rowsOf(db)(
    `select ${sums.replaceAll(/sum\((\w+)\)/g, 'coalesce(sum($1), 0)')} from generate_series(28, 0, -1) as d (ago)
       left join activity on integration = $1 and step = '1h' and at >= ${counted} - d.ago * interval '1 day' - interval '1 day'
                                            and at < ${counted} - d.ago * interval '1 day'
      group by ago order by ago desc`,
    [integration],
  );

/**
 * The stays around today for each stay around the same weekday of the last four weeks: 0 for a hotel that has closed. Reads all reservations
 * of the brand, so it is asked only before an alert is raised.
 */
export async function seasonOf(db: Pool, integration: string): Promise<number> {
  const season = await cellOf(db)<number>(
    `select coalesce(min(stays) filter (where week = 0) / nullif(percentile_cont(0.5) within group (order by stays) filter (where week > 0), 0), 1) as season
       from (select week, count(r.id)::float8 as stays from generate_series(0, 4) as w (week)
               left join (select id, d.* from records cross join lateral json_to_record(data) as d (status text, check_in date, check_out date)
                           where integration = $1 and type = 'reservation' and version > 0 and event <> 'removed') r
                 on r.status <> 'cancelled' and r.check_in <= current_date - week * 7 + 1 and r.check_out >= current_date - week * 7
              group by week) s`,
    [integration],
  );
  return season ?? 1;
}
