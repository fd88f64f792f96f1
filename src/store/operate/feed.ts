import type { FeedDay } from '../../watch/feed.ts';
import type { Pool } from '../db/pool.ts';

const sums = `sum(events)::int as events, sum(pulls)::int as runs, sum(rows)::int as rows, sum(run_ms)::float8 as run_ms,
            sum(dead_rows)::int as dead_rows, sum(dead_events)::int as dead_events`;
/** The end of the last counted hour. */
const counted = `(select at from marks where name = 'activity 1h')`;

export interface FeedWeek extends FeedDay {
  readonly integration: string;
  /** 0: the last 24 counted hours; 1 to 4: the same hours so many weeks ago. */
  readonly week: number;
}

/** Of all brands: 120 of the hours of the last four weeks. Five ranges of an index; once an hour. */
export async function feedWeeks(db: Pool): Promise<FeedWeek[]> {
  const { rows } = await db.query<FeedWeek>(
    `select a.integration, w.week, ${sums} from generate_series(0, 4) as w (week) cross join lateral (select ${counted} as at) c
       join activity a on a.step = '1h' and a.at >= c.at - w.week * interval '168 hours' - interval '24 hours'
                                        and a.at < c.at - w.week * interval '168 hours'
      group by 1, 2`,
  );
  return rows;
}

/** The last 29 days of one brand, oldest first; each is 24 hours that end with the last counted one. */
export async function feedDays(db: Pool, integration: string): Promise<FeedDay[]> {
  const { rows } = await db.query<FeedDay>(
    `select ${sums.replaceAll(/sum\((\w+)\)/g, 'coalesce(sum($1), 0)')} from generate_series(28, 0, -1) as d (ago)
       left join activity on integration = $1 and step = '1h' and at >= ${counted} - d.ago * interval '1 day' - interval '1 day'
                                            and at < ${counted} - d.ago * interval '1 day'
      group by ago order by ago desc`,
    [integration],
  );
  return rows;
}

/**
 * The stays around today for each stay around the same weekday of the last four weeks: 0 for a hotel that has closed. Reads all reservations
 * of the brand, so it is asked only before an alert is raised.
 */
export async function seasonOf(db: Pool, integration: string): Promise<number> {
  const { rows } = await db.query<{ season: number }>(
    `select coalesce(min(stays) filter (where week = 0) / nullif(percentile_cont(0.5) within group (order by stays) filter (where week > 0), 0), 1) as season
       from (select week, count(r.id)::float8 as stays from generate_series(0, 4) as w (week)
               left join (select id, d.* from records cross join lateral json_to_record(data) as d (status text, check_in date, check_out date)
                           where integration = $1 and type = 'reservation' and version > 0 and event <> 'removed') r
                 on r.status <> 'cancelled' and r.check_in <= current_date - week * 7 + 1 and r.check_out >= current_date - week * 7
              group by week) s`,
    [integration],
  );
  return rows[0]?.season ?? 1;
}
