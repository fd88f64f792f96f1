import type { Pool, UnreadRow } from '../../../core/store/db/pool.ts';

/** Counts yesterday and today, for all brands. Earlier days stay as they were counted. */
export async function countQuality(db: Pick<Pool, 'query'>): Promise<void> {
  await db.query(
    `with changed as (
       select r.integration, r.id, (r.at at time zone 'UTC')::date as day,
              bool_or(r.notes::jsonb @? $1::jsonpath)::int as unreadable
         from history r
        where r.at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '1 day'
          and (r.outcome in ('created', 'updated', 'cancelled', 'erased') or r.notes::jsonb @? $1::jsonpath) and r.type = 'reservation'
        group by 1, 2, 3
     ), looked as (
       select c.integration, c.day, c.unreadable, r.data, coalesce(r.data -> 'guests', '[]'::json) as guests from changed c
        cross join lateral (select data from records where integration = c.integration and id = c.id and type = 'reservation'
                               and version > 0 limit 1) r
     ), one as (
       select l.integration, l.day, l.unreadable, g.*,
              (l.data -> 'total_amount' is not null)::int as total_amount, (l.data -> 'currency' is not null)::int as currency,
              (l.data -> 'channel' is not null)::int as channel,
              (json_array_length(coalesce(l.data -> 'rooms', '[]'::json)) > 0)::int as rooms
         from looked l
        cross join lateral (
          select count(*)::int as guests, count(*) filter (where g ->> 'email' is not null and g -> 'email_proxy' is null)::int as email,
                 count(*) filter (where g -> 'email_proxy' is not null)::int as email_proxy,
                 count(*) filter (where g ->> 'email_raw' is not null)::int as email_invalid,
                 count(*) filter (where g ->> 'phone' is not null)::int as phone,
                 count(*) filter (where g ->> 'phone_raw' is not null)::int as phone_invalid,
                 count(*) filter (where g ->> 'last_name' is not null)::int as last_name,
                 count(*) filter (where g ->> 'nationality' is not null)::int as nationality
            from json_array_elements(l.guests) g) g
     ), counted as (
       select integration, day, count(*)::int as reservations, sum(guests)::int as guests, sum(email)::int as email,
              sum(email_proxy)::int as email_proxy, sum(email_invalid)::int as email_invalid, sum(phone)::int as phone,
              sum(phone_invalid)::int as phone_invalid, sum(last_name)::int as last_name, sum(nationality)::int as nationality,
              sum(total_amount)::int as total_amount, sum(currency)::int as currency, sum(channel)::int as channel,
              sum(rooms)::int as rooms, count(*) filter (where guests > 0)::int as lead_guest,
              sum(unreadable)::int as unreadable
         from one group by integration, day
     ), taken as (
       select integration, (received_at at time zone 'UTC')::date as day, count(*)::int as events,
              count(*) filter (where occurred_at < received_at - interval '15 minutes')::int as late_events
         from events where received_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '1 day'
        group by 1, 2
     )
     insert into activity (integration, step, at, quality)
     select c.integration, '1d', c.day::timestamp at time zone 'UTC', to_jsonb(c) - 'integration' - 'day'
            || jsonb_build_object('events', coalesce(t.events, 0), 'late_events', coalesce(t.late_events, 0), 'counted_at', now())
       from counted c left join taken t on t.integration = c.integration and t.day = c.day
     on conflict (integration, step, at) do update set quality = excluded.quality`,
    [unreadable],
  );
}

const unreadable = '$[*][0] ? (@ == "invalid_dropped" || @ == "email_invalid" || @ == "phone_impossible")';

/** Newest day first. */
export async function readQuality(pool: Pool, integration: string, days: number): Promise<UnreadRow[]> {
  const { rows } = await pool.query<{ day: string; quality: UnreadRow }>(
    `select to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day, quality from activity
      where integration = $1 and step = '1d' and at > date_trunc('day', now(), 'UTC') - $2 * interval '1 day' order by at desc`,
    [integration, days],
  );
  return rows.map(({ day, quality }) => ({ day, ...quality }));
}
