import type { Pool, UnreadRow } from '../db/pool.ts';

export async function firstEventAt(pool: Pool, integration: string): Promise<Date | null> {
  const { rows } = await pool.query<{ at: Date | null }>(
    'select min(received_at) as at from events where integration = $1',
    [integration],
  );
  return rows[0]?.at ?? null;
}

/**
 * Changes that polls found and no event reported, by day in UTC: changes made by a run without an event for the same reservation from an
 * hour before to ten minutes after. Changes from before the brand's first event are not counted.
 */
export async function pushGaps(pool: Pool, integration: string, days: number): Promise<UnreadRow[]> {
  const { rows } = await pool.query<UnreadRow>(
    `with first as (
       select min(received_at) as at from events where integration = $1
     ), missed as (
       select r.id, r.outcome, (r.at at time zone 'UTC')::date as day from history r, first
        where r.integration = $1 and r.type = 'reservation' and r.cause = 'run'
          and r.outcome in ('created', 'updated', 'cancelled')
          and r.at > now() - $2 * interval '1 day' and r.at > first.at and r.at < now() - interval '10 minutes'
          and not exists (
            select from history e
             where e.integration = r.integration and e.type = r.type and e.id = r.id and e.cause = 'event'
               and e.at between r.at - interval '1 hour' and r.at + interval '10 minutes')
          and not exists (
            select from events e
             where e.integration = r.integration and e.type = r.type and e.id = r.id and e.outcome in ('unchanged', 'superseded')
               and e.received_at between r.at - interval '1 hour' and r.at + interval '10 minutes')
     ), taken as (
       select (received_at at time zone 'UTC')::date as day, count(*)::int as events from events
        where integration = $1 and received_at > now() - $2 * interval '1 day' group by 1
     )
     select to_char(coalesce(m.day, t.day), 'YYYY-MM-DD') as day, coalesce(t.events, 0) as events,
            coalesce(m.created, 0) as created, coalesce(m.updated, 0) as updated, coalesce(m.cancelled, 0) as cancelled,
            coalesce(m.examples, '{}') as examples
       from (select day, count(*) filter (where outcome = 'created')::int as created,
                    count(*) filter (where outcome = 'updated')::int as updated,
                    count(*) filter (where outcome = 'cancelled')::int as cancelled,
                    (array_agg(distinct id))[1:5] as examples
               from missed group by day) m
       full join taken t on t.day = m.day
      order by 1 desc`,
    [integration, days],
  );
  return rows;
}
