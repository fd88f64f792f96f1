import { readFileSync } from 'node:fs';

/**
 * The measures are defined once, by the views of the warehouse. Here the same text is counted over the records of one brand: each view
 * becomes a part of one statement, over tables of the same form. $1 is the integration, $2 its time zone, $3 the first night.
 */
const folder = new URL('../../../core/deliver/destinations/postgres/migrations/', import.meta.url);
const definitions = ['0001-tables.sql', '0002-views.sql']
  .map((file) => readFileSync(new URL(file, folder), 'utf8'))
  .join('\n');
const used = `version_rooms version_charges version_days bookings booked_versions booked_room_versions booked_rooms
  night_versions nights booking_curve`;
const views = used.split(/\s+/).map((name) => {
  const [, body] = new RegExp(`^create view ${name} as\\n(.*?);$`, 'ms').exec(definitions) ?? [];
  if (body === undefined) throw new Error(`no view ${name}`);
  return `${name} as (${body})`;
});

/** The first night that is counted. Longer stays than 60 days before it are passed over. */
const firstDay = '$3::date';

const tables = `
  day as (select (now() at time zone $2)::date as today),
  brands as (select $1::text as integration, $2::text as timezone),
  stored as materialized (
    select r.id, r.version, r.event, least(r.created_at, r.effective_at) as at, r.data from records r, day
     where r.integration = $1 and r.type = 'reservation' and r.version > 0 and r.arrival >= ${firstDay} - 60
  ), dropped as materialized (
    select s.id, s.from_at as at, s.data from stays s, day
     where s.integration = $1 and s.version = 0 and s.data ->> 'check_in' >= (${firstDay} - 60)::text
       and not exists (select from stored r where r.id = s.id and r.event <> 'removed')
  ), stated as (
    select s.id, s.version, 'updated' as event, s.until_at, s.from_at as at, s.data
      from stays s where s.integration = $1 and s.version > 0 and s.id in (select id from stored)
    union all
    select r.id, r.version, case when d.id is null then r.event else 'updated' end, null, r.at, coalesce(d.data, r.data)
      from stored r left join dropped d on d.id = r.id
    union all
    select d.id, 1, 'created', null, d.at, d.data from dropped d where d.id not in (select id from stored)
  ), reservation_versions as (
    select $1::text as integration, ''::text as brand_id, s.id, 1 as epoch, s.version, s.event,
           coalesce(lag(s.until_at) over earlier, s.at, s.until_at) as stated_at, d.*,
           jsonb_path_query_array(c.charges, '$[*] ? (@.charge_kind == "room")') as charges
      from stated s cross join lateral json_to_record(s.data) as d (
             status text, check_in date, check_out date, booking_date date, cancelled_at date, channel text, source text, segment text,
             total_amount numeric, currency text, rooms jsonb)
     cross join lateral json_to_record(s.data) as c (charges jsonb)
    window earlier as (partition by s.id order by s.version)
  ), reservations as (
    select distinct on (id) *, case when event = 'removed' then stated_at end as removed_at from reservation_versions order by id, version desc
  ), guests as (
    select null::text as integration, null::text as reservation_id, 0 as position, null::text as nationality, null::text as guest_id,
           null::text as email, false as email_proxy, null::text as phone where false
  ),
  ${views.join(',\n')}`;

/** Amounts by currency; an amount without one is under the empty name. */
const money = `coalesce(jsonb_object_agg(currency, revenue) filter (where revenue is not null), '{}')`;

/** One row: the figures of a hotel as JSON (measures/facts.ts). */
export const hotelSql = `
  with ${tables},
  curve as (
    -- Days are told apart only where something is compared with an earlier day: for the forecast, and a year ago.
    select night, case when night >= today - 130 or night >= today - 364 and night < today - 244 then least(day, today) end as day, coalesce(currency, '') as currency,
           sum(rooms_sold)::int as rooms, sum(room_revenue) as revenue
      from booking_curve, day where night >= ${firstDay} and night < today + 120 group by 1, 2, 3
  ), free as (
    select night, sum(complimentary)::int as rooms from nights, day where complimentary = 1 and night >= ${firstDay} and night < today + 120 group by 1
  ), moves as (
    select check_in = today as arrives, id, status, count(*) as rooms, sum(coalesce(adults, 0) + coalesce(children, 0)) as people
      from booked_rooms, day
     where on_books and kind in ('room', 'day_use') and today in (check_in, check_out) and (check_in < check_out or check_in = today) group by 1, 2, 3
  ), moved as (
    select arrives, jsonb_build_object('reservations', count(*), 'rooms', sum(rooms), 'people', sum(people), 'done',
                      count(*) filter (where status = 'checked_out' or arrives and status = 'checked_in')) as counts
      from moves group by 1
  ), lost as (
    select case when n.status = 'no_show' then 'no_shows' when n.cancelled_on > today - 7 then 'week' else 'week_before' end as part, coalesce(n.currency, '') as currency,
           count(distinct n.reservation_id)::int as reservations, sum(n.room_night)::int as room_nights, sum(n.room_revenue) as revenue
      from nights n, day
     where n.kind in ('room', 'day_use') and n.status in ('cancelled', 'no_show') and n.cancelled_on <= today
       and n.cancelled_on > today - case n.status when 'cancelled' then 14 else 7 end group by 1, 2
  ), lost_parts as (
    select part, jsonb_build_object('reservations', sum(reservations), 'room_nights', sum(room_nights), 'revenue', ${money}) as counts
      from lost group by 1
  ), channels as (
    select lower(regexp_replace(channel, '[\\s_.-]+', '', 'g')) as key, mode() within group (order by channel) as channel,
           coalesce(currency, '') as currency, sum(room_night)::int as room_nights, sum(room_revenue) as revenue
      from nights, day where on_books and night >= today and night < today + 90 group by 1, 3
  ), arriving as (
    select b.id, bool_or(p.profile_id is not null) as is_known, bool_or(exists (
             select from profile_bookings e
               join records r on r.integration = $1 and r.type = 'reservation' and r.id = e.reservation_id and r.version > 0
              where e.integration = $1 and e.profile_id = p.profile_id and r.data ->> 'check_in' < b.check_in::text
                and r.data ->> 'status' in ('confirmed', 'checked_in', 'checked_out'))) as is_return
      from day cross join bookings b left join profile_bookings p on p.integration = $1 and p.reservation_id = b.id
     where b.on_books and b.check_in >= today and b.check_in < today + 7 group by b.id
  )
  select coalesce((select changes from activity where integration = $1 and step = 'ever'), 0)::int as changes,
         (select json_agg(json_build_array(night, day, currency, rooms, revenue)) from curve) as curve,
         (select json_object_agg(night, rooms) from free) as free,
         (select jsonb_object_agg(case when arrives then 'arrivals' else 'departures' end, counts) from moved) as moved,
         (select json_build_object('rooms', count(distinct room_key), 'people', coalesce(sum(coalesce(adults, 0) + coalesce(children, 0)), 0))
            from nights where on_books and kind = 'room' and night = today) as in_house,
         (select jsonb_object_agg(part, counts) from lost_parts) as lost,
         (select json_agg(c) from (select max(channel) as channel, sum(room_nights)::int as room_nights, ${money} as revenue
                                     from channels group by key order by 2 desc, 1) c) as channels,
         (select json_build_object('returning', count(*) filter (where is_return), 'new', count(*) filter (where is_known and not is_return),
                                   'unknown', count(*) filter (where not is_known)) from arriving) as guests
    from day`;
