-- The measures of docs/guides/measures.md. The same statements run in DuckDB over Parquet files (ops/duckdb/lake.sql), so they use only
-- what both understand. Each view stands on `bookings`, `booked_rooms` or `nights`, where the terms are defined once.

create view reservation_changes as
select integration, id, epoch, version, event, changed_at,
       array_remove(array[
         case when check_in is distinct from lag(check_in) over w then 'check_in' end,
         case when check_out is distinct from lag(check_out) over w then 'check_out' end,
         case when status is distinct from lag(status) over w then 'status' end,
         case when channel is distinct from lag(channel) over w then 'channel' end,
         case when source is distinct from lag(source) over w then 'source' end,
         case when (total_amount, currency) is distinct from (lag(total_amount) over w, lag(currency) over w) then 'total_amount' end,
         case when guest_count <> lag(guest_count) over w then 'guests' end,
         case when room_count <> lag(room_count) over w then 'rooms' end
       ], null) as changed
  from reservation_versions
window w as (partition by integration, id order by epoch, version);
comment on view reservation_changes is 'One row per version: what it changed, in columns of reservation_versions. The first version changes all that it states.';

create view version_days as
select v.*, (v.stated_at at time zone coalesce(b.timezone, 'UTC'))::date as changed_on,
       v.event <> 'removed' and coalesce(v.status in ('confirmed', 'checked_in', 'checked_out'), true) as on_books,
       lag(v.status) over booking as status_before, row_number() over booking = 1 as is_first, lead(v.version) over booking is null as is_newest
  from reservation_versions v left join brands b on b.integration = v.integration
window booking as (partition by v.integration, v.id order by v.epoch, v.version);
comment on view version_days is 'One row per version, with its day in the time zone of the hotel.';

create view bookings as
select r.integration, r.brand_id, r.id, r.status, coalesce(r.status in ('confirmed', 'checked_in', 'checked_out'), true) as on_books,
       r.check_in, r.check_out, r.check_out - r.check_in as stay_nights, date_trunc('month', r.check_in)::date as arrival_month,
       coalesce(r.channel, r.source, 'unknown') as channel, r.source, r.segment,
       g.nationality as country, coalesce(g.guest_id, case when g.email_proxy is not true then g.email end, g.phone) as guest,
       r.currency, r.total_amount, r.booking_date, least(coalesce(r.booking_date, s.seen_on), r.check_in) as booked_on,
       case when r.booking_date <= r.check_in then r.check_in - r.booking_date end as lead_days,
       case r.status when 'cancelled' then least(coalesce(r.cancelled_at, s.cancelled_on), r.check_in)
                     when 'no_show' then r.check_in end as cancelled_on,
       case when r.status = 'cancelled' then
         case when r.cancelled_at is not null then 'partner' when s.was_seen_before then 'change' else 'first_seen' end
       end as cancelled_on_source
  from reservations r
  left join guests g on g.integration = r.integration and g.reservation_id = r.id and g.position = 0
  left join (
    select integration, id, min(changed_on) as seen_on,
           max(changed_on) filter (where status = 'cancelled' and status_before is distinct from 'cancelled') as cancelled_on,
           bool_or(status = 'cancelled' and status_before <> 'cancelled') as was_seen_before
      from version_days group by integration, id
  ) s on s.integration = r.integration and s.id = r.id
 where r.removed_at is null;
comment on view bookings is 'One row per reservation that has not left, in every status. Personal data: guest.';
comment on column bookings.on_books is 'confirmed, checked_in or checked_out. Every measure of business counts these reservations only.';
comment on column bookings.booked_on is 'The booking date, else the day on which the reservation was first seen; never after the arrival.';
comment on column bookings.cancelled_on is 'Day of the cancellation, never after the arrival; for a no-show the arrival.';
comment on column bookings.cancelled_on_source is 'partner: the partner said the day. change: the day on which we saw it change. first_seen: it was cancelled when we first saw it, so the true day may be earlier.';

-- A reservation is on the books from its booking on, and with its first version until the next one, even if that was seen later. One that
-- was cancelled when it was first seen was on the books before.
create view booked_versions as
select integration, brand_id, id, epoch, version, is_newest, status, on_books, check_in, check_out, coalesce(channel, source, 'unknown') as channel,
       segment, currency, total_amount, on_books or is_first and gone_on is not null as is_counted, from_day,
       least(min(coalesce(gone_on, changed_on)) over (partition by integration, id order by epoch, version rows between 1 following and unbounded following),
             gone_on) as until_day
  from (
    select v.*, case when is_first then least(coalesce(booking_date, changed_on), check_in) else changed_on end as from_day,
           case status when 'cancelled' then least(coalesce(cancelled_at, changed_on), check_in) when 'no_show' then check_in end as gone_on
      from version_days v
  ) s;
comment on view booked_versions is 'One row per version of every reservation, with the days on which it was the valid one.';
comment on column booked_versions.is_counted is 'It was on the books from from_day until the day before until_day.';
comment on column booked_versions.until_day is 'The first day on which it was no longer on the books as this version; null: it still is.';

create view booked_room_versions as
select s.*, case when room_kind in ('pseudo', 'house') then room_kind when last_day <= first_night then 'day_use' else 'room' end as kind,
       case when last_day > first_night then last_day - first_night else 1 end as row_count
  from (
    select v.*, coalesce(m.position, 0) as room, m.room_type, m.board, m.rate_code, m.room_kind, m.share_id, m.adults, m.children,
           coalesce(m.start_date, v.check_in) as first_night, coalesce(m.end_date, v.check_out) as last_day
      from booked_versions v
      left join version_rooms m on m.integration = v.integration and m.id = v.id and m.epoch = v.epoch and m.version = v.version
     where v.check_in is not null and v.check_out is not null
  ) s;
comment on view booked_room_versions is 'One row per room of every version; a version without rooms has one.';
comment on column booked_room_versions.kind is 'room; day_use: no night; pseudo: a room that does not exist; house: a house account or house use.';

create view booked_rooms as
select b.*, m.room, m.room_type, m.board, m.rate_code, m.room_kind, m.share_id, m.adults, m.children, m.first_night, m.last_day, m.kind, m.row_count
  from bookings b join booked_room_versions m on m.integration = b.integration and m.id = b.id and m.is_newest;
comment on view booked_rooms is 'One row per room of a reservation; a reservation without rooms has one.';

create view night_versions as
with rows_of_rooms as (
  select b.*, b.first_night + n::int as night, coalesce(share_id, id || ' ' || room) as room_key,
         case when currency in ('BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'VND', 'VUV', 'XAF', 'XOF', 'XPF') then 1
              when currency in ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then 1000 else 100 end as units
    from booked_room_versions b cross join lateral generate_series(0, row_count - 1) as t (n)
), room_charges as (
  select c.integration, c.id, c.epoch, c.version, m.night, sum(c.amount) as gross,
         case when count(*) = count(c.tax_amount) then sum(c.tax_amount) end as tax
    from version_charges c
    left join (select distinct integration, id, epoch, version, night from rows_of_rooms) m
      on m.integration = c.integration and m.id = c.id and m.epoch = c.epoch and m.version = c.version and m.night = c.charge_date
   group by 1, 2, 3, 4, 5
), charged as (
  select integration, id, epoch, version, count(*) = count(tax) as has_tax, case when count(*) = count(night) then max(night) end as posted_to
    from room_charges group by 1, 2, 3, 4
), numbered as (
  select r.*, count(*) over stay as of_stay, row_number() over (stay order by night, room) as in_stay,
         count(*) over one_night as of_night, row_number() over (one_night order by room) as in_night
    from rows_of_rooms r
  window stay as (partition by integration, is_newest, id, epoch, version), one_night as (partition by integration, is_newest, id, epoch, version, night)
), priced as (
  select n.*, spread(n.total_amount, in_stay, of_stay, units) as amount,
         case when c.id is null then case when kind in ('room', 'day_use') then spread(n.total_amount, in_stay, of_stay, units) else 0 end
              else coalesce(spread(w.gross, in_stay, of_stay, units), 0) + coalesce(spread(d.gross, in_night, of_night, units), 0)
         end as room_gross,
         case when c.has_tax
              then coalesce(spread(w.tax, in_stay, of_stay, units), 0) + coalesce(spread(d.tax, in_night, of_night, units), 0)
         end as room_tax,
         case when e.gross is null then 0
              else spread(e.gross, in_night, of_night, units) - case when c.has_tax then spread(e.tax, in_night, of_night, units) else 0 end
         end as expected
    from numbered n
    left join charged c on c.integration = n.integration and c.id = n.id and c.epoch = n.epoch and c.version = n.version
    left join room_charges w on w.integration = n.integration and w.id = n.id and w.epoch = n.epoch and w.version = n.version and w.night is null
    left join room_charges d on d.integration = n.integration and d.id = n.id and d.epoch = n.epoch and d.version = n.version and d.night = n.night
    -- A folio that is posted night by night: the nights after the last posted one are expected to cost the same.
    left join room_charges e on e.integration = n.integration and e.id = n.id and e.epoch = n.epoch and e.version = n.version
     and e.night = c.posted_to and n.night > c.posted_to and n.status in ('confirmed', 'checked_in')
)
select integration, brand_id, id as reservation_id, epoch, version, is_newest, is_counted, from_day, until_day, room, room_key, night, kind, status,
       on_books, (kind = 'room')::int as room_night, (kind = 'room' and night = check_in)::int as arrival, channel, segment, room_type, board,
       rate_code, share_id, adults, children, check_in, check_out, currency, amount, room_gross, room_tax, room_gross - room_tax as room_net, expected,
       coalesce(room_gross - room_tax, room_gross) + expected as room_revenue
  from priced;
comment on view night_versions is 'One row per version, room and night, in every status: what each night was when this version was valid.';
comment on column night_versions.room_key is 'The same for all who share a room.';

create view nights as
select n.integration, n.brand_id, n.reservation_id, n.room, n.night, n.kind, n.status, n.on_books, n.room_night, n.room_key,
       case when n.on_books and n.kind = 'room' and row_number() over share = 1 then 1 else 0 end as sold,
       case when n.on_books and n.kind = 'room' and row_number() over share = 1 and sum(n.room_revenue) over all_of_share = 0 then 1 else 0 end as complimentary,
       n.channel, b.source, n.segment, b.country, n.room_type, n.board, n.rate_code, n.share_id, n.adults, n.children,
       n.check_in, n.check_out, b.booking_date, b.lead_days, b.booked_on, b.cancelled_on, n.currency, n.amount, n.room_gross, n.room_tax,
       n.room_net, n.expected, n.room_revenue
  from night_versions n join bookings b on b.integration = n.integration and b.id = n.reservation_id
 where n.is_newest
window share as (partition by n.integration, n.on_books, n.kind, n.room_key, n.night order by n.reservation_id, n.room),
       all_of_share as (partition by n.integration, n.on_books, n.kind, n.room_key, n.night);
comment on view nights is 'One row per reservation, room and night, in every status; day use has one row, on its day.';
comment on column nights.sold is '1 for a room night on the books. Of several reservations that share a room, one has it. Day use, pseudo rooms and house accounts have 0.';
comment on column nights.complimentary is '1 for a room that is sold at the price 0. A room whose price is not known is not complimentary.';
comment on column nights.amount is 'The part of total_amount: all rows of a reservation together are its total_amount.';
comment on column nights.room_gross is 'The part of the charges of the kind room, dated ones on their night. Where no charge has this kind: the part of total_amount, and 0 for pseudo rooms and house accounts.';
comment on column nights.room_tax is 'The part of their tax; null where a charge does not state it.';
comment on column nights.expected is 'Of a folio that is posted night by night: the price of the last posted night, on the nights after it, until the guest leaves.';
comment on column nights.room_revenue is 'Net if the tax is known, else gross; with what is expected.';

create view rooms_available as
select s.integration, s.brand_id, s.from_day + n::int as night, s.rooms
  from (
    select c.integration, c.brand_id, c.rooms, greatest(c.from_day, b.first_day) as from_day,
           least(coalesce(lead(c.from_day) over (partition by c.integration order by c.from_day), b.last_day), b.last_day) as until_day
      from (select integration, brand_id, unnest(capacity_from) as from_day, unnest(capacity_rooms) as rooms from brands) c
      join (select integration, min(check_in) as first_day, max(check_out) as last_day from reservations group by 1) b
        on b.integration = c.integration
  ) s cross join lateral generate_series(0, until_day - from_day - 1) as t (n);
comment on view rooms_available is 'One row per brand and night, from the first arrival to the last departure: the rooms that the hotel can sell, as its integration document says.';

create view occupancy_by_night as
select coalesce(s.integration, a.integration) as integration, coalesce(s.brand_id, a.brand_id) as brand_id, coalesce(s.night, a.night) as night,
       a.rooms as rooms_available, coalesce(s.rooms_sold, 0)::int as rooms_sold, coalesce(s.room_nights, 0)::int as room_nights,
       coalesce(s.people, 0)::int as people,
       round(100.0 * coalesce(s.rooms_sold, 0) / case when a.rooms > 0 then a.rooms end, 1) as occupancy
  from (
    select integration, brand_id, night, sum(sold) as rooms_sold, sum(room_night) as room_nights,
           sum(case when kind = 'room' then coalesce(adults, 0) + coalesce(children, 0) end) as people
      from nights where on_books group by 1, 2, 3
  ) s full join rooms_available a on a.integration = s.integration and a.night = s.night;
comment on view occupancy_by_night is 'One row per brand and night. occupancy: rooms_sold in percent of rooms_available; null if the capacity is not known.';

create view revenue_by_night as
select n.integration, n.brand_id, n.night, n.currency, n.rooms_sold, n.room_revenue, n.amount,
       round(n.room_revenue / case when n.rooms_sold > 0 then n.rooms_sold end, 2) as adr,
       round(n.room_revenue / case when a.rooms > 0 then a.rooms end, 2) as revpar
  from (
    select integration, brand_id, night, currency, sum(sold)::int as rooms_sold, sum(room_revenue) as room_revenue, sum(amount) as amount
      from nights where on_books group by 1, 2, 3, 4
  ) n left join rooms_available a on a.integration = n.integration and a.night = n.night;
comment on view revenue_by_night is 'One row per brand, night and currency. adr: room_revenue per room sold; revpar: room_revenue per room available.';

create view measures_by_month as
with hotel as (
  select integration, date_trunc('month', night)::date as month, sum(rooms_available)::int as rooms_available,
         sum(case when rooms_available is not null then rooms_sold end) as rooms_sold
    from occupancy_by_night group by 1, 2
)
select r.integration, r.brand_id, r.month, r.currency, h.rooms_available, r.rooms_sold,
       round(100.0 * h.rooms_sold / case when h.rooms_available > 0 then h.rooms_available end, 1) as occupancy,
       r.room_revenue, r.amount, round(r.room_revenue / case when r.rooms_sold > 0 then r.rooms_sold end, 2) as adr,
       round(r.room_revenue / case when h.rooms_available > 0 then h.rooms_available end, 2) as revpar
  from (
    select integration, brand_id, date_trunc('month', night)::date as month, currency, sum(rooms_sold)::int as rooms_sold,
           sum(room_revenue) as room_revenue, sum(amount) as amount
      from revenue_by_night group by 1, 2, 3, 4
  ) r join hotel h on h.integration = r.integration and h.month = r.month;
comment on view measures_by_month is 'One row per brand, month of the night and currency. occupancy is the one of the hotel, over all currencies.';

create view usali_by_night as
select n.integration, n.brand_id, n.night, n.currency, a.rooms as rooms_available, n.rooms_sold, n.complimentary, n.room_revenue,
       round(100.0 * n.rooms_sold / case when a.rooms > 0 then a.rooms end, 1) as occupancy,
       round(n.room_revenue / case when n.rooms_sold > 0 then n.rooms_sold end, 2) as adr,
       round(n.room_revenue / case when a.rooms > 0 then a.rooms end, 2) as revpar
  from (
    select integration, brand_id, night, currency, sum(sold - complimentary)::int as rooms_sold, sum(complimentary)::int as complimentary,
           sum(room_revenue) as room_revenue
      from nights where on_books group by 1, 2, 3, 4
  ) n left join rooms_available a on a.integration = n.integration and a.night = n.night;
comment on view usali_by_night is 'One row per brand, night and currency, as hotels are compared: complimentary rooms are not sold.';

create view arrivals_by_day as
select integration, brand_id, check_in as day, count(distinct id) as reservations, count(*) filter (where kind in ('room', 'day_use')) as rooms,
       sum(coalesce(adults, 0) + coalesce(children, 0)) as people
  from booked_rooms where on_books group by 1, 2, 3;
comment on view arrivals_by_day is 'One row per brand and day of arrival: reservations, rooms and people.';

create view guest_value as
select b.integration, b.brand_id, b.guest, b.currency, max(g.first_name) as first_name, max(g.last_name) as last_name,
       count(*)::int as stays, sum(b.stay_nights)::int as stay_nights, sum(b.total_amount) as amount,
       min(b.check_in) as first_check_in, max(b.check_out) as last_check_out
  from bookings b left join guests g on g.integration = b.integration and g.reservation_id = b.id and g.position = 0
   and b.guest is not null
 where b.on_books group by 1, 2, 3, 4;
comment on view guest_value is 'One row per brand, first guest and currency: stays, stay nights and amount of the reservations on the books. guest is null for guests that cannot be told apart. Personal data.';

create view guests_with_stays as
select g.integration, b.brand_id, coalesce(g.guest_id, g.email, g.phone) as guest,
       max(g.first_name) as first_name, max(g.last_name) as last_name, max(g.email) as email, max(g.phone) as phone,
       count(distinct b.id) as stays, sum(b.stay_nights) as nights, min(b.check_in) as first_check_in, max(b.check_out) as last_check_out
  from guests g join bookings b on b.integration = g.integration and b.id = g.reservation_id
 where b.on_books and coalesce(g.guest_id, g.email, g.phone) is not null and g.email_proxy is not true
 group by 1, 2, 3;
comment on view guests_with_stays is 'One row per guest of a brand that can be told apart, companions included, with stays and stay nights. Aliases of booking sites are left out. Personal data.';

create view repeat_share as
select integration, brand_id, arrival_month, count(*)::int as reservations, count(guest)::int as known,
       count(*) filter (where is_return)::int as returning_guests,
       round(100.0 * count(*) filter (where is_return) / case when count(guest) > 0 then count(guest) end, 1) as percent
  from (
    select b.*, guest is not null and check_in > min(check_in) over (partition by integration, guest) as is_return
      from bookings b where on_books
  ) s group by 1, 2, 3;
comment on view repeat_share is 'One row per brand and arrival month: reservations whose first guest stayed before, in percent of those whose first guest can be told apart.';

create view pickup_by_day as
with seen as (
  select v.integration, v.brand_id, v.on_books, v.changed_on, v.check_in, v.currency, v.total_amount, coalesce(m.room_nights, 0) as room_nights,
         lead(v.changed_on) over (partition by v.integration, v.id order by v.epoch, v.version) as next_on
    from version_days v left join (
      select integration, id, epoch, version, sum(case when kind = 'room' then row_count else 0 end)::int as room_nights
        from booked_room_versions group by 1, 2, 3, 4
    ) m on m.integration = v.integration and m.id = v.id and m.epoch = v.epoch and m.version = v.version
)
select integration, brand_id, day, date_trunc('month', check_in)::date as arrival_month, currency,
       sum(reservations)::int as reservations, sum(room_nights)::int as room_nights, sum(amount) as amount
  from (
    -- What the version adds, and what the version before it no longer counts for.
    select integration, brand_id, changed_on as day, check_in, currency, 1 as reservations, room_nights, coalesce(total_amount, 0) as amount
      from seen where on_books
    union all
    select integration, brand_id, next_on, check_in, currency, -1, -room_nights, -coalesce(total_amount, 0) from seen
     where on_books and next_on is not null
  ) moves
 group by 1, 2, 3, 4, 5
having sum(reservations) <> 0 or sum(room_nights) <> 0 or sum(amount) <> 0;
comment on view pickup_by_day is 'One row per brand, day, arrival month and currency: what the day added to the books and took from them, as we saw it.';

create view booking_curve as
with stays as (select * from night_versions where is_counted and (until_day is null or until_day > from_day)),
moves as (
  select integration, brand_id, reservation_id, epoch, version, room, room_key, night, from_day as day, segment, channel, room_type, currency,
         room_night as room_nights, arrival as arrivals, room_revenue, amount, 1 as sign
    from stays
  union all
  select integration, brand_id, reservation_id, epoch, version, room, room_key, night, until_day, segment, channel, room_type, currency,
         -room_night, -arrival, -room_revenue, -amount, -1
    from stays where until_day is not null
)
select integration, brand_id, night, day, segment, channel, room_type, currency, sum(rooms_sold)::int as rooms_sold, sum(room_nights)::int as room_nights,
       sum(arrivals)::int as arrivals, sum(room_revenue) as room_revenue, sum(amount) as amount
  from (
    -- A shared room is sold with the first of its guests and free after the last.
    select m.*, least(sum(room_nights) over up_to, 1) - least(sum(room_nights) over up_to - room_nights, 1) as rooms_sold from moves m
    window up_to as (partition by integration, room_key, night order by day, sign, reservation_id, epoch, version, room
                 rows between unbounded preceding and current row)
  ) s group by 1, 2, 3, 4, 5, 6, 7, 8
having sum(rooms_sold) <> 0 or sum(room_nights) <> 0 or sum(arrivals) <> 0 or sum(room_revenue) <> 0 or sum(amount) <> 0;
comment on view booking_curve is 'One row per brand, night, day, segment, channel, room type and currency: what the day added to the books of the night and took from them. The sum of all days up to one is what was on the books then.';

create view channel_mix as
select b.integration, b.brand_id, b.arrival_month, mode() within group (order by b.channel) as channel, b.currency,
       count(*)::int as reservations, sum(b.stay_nights)::int as stay_nights, sum(m.room_nights)::int as room_nights, sum(b.total_amount) as amount
  from bookings b left join (
    select integration, id, sum(case when kind = 'room' then row_count else 0 end) as room_nights from booked_rooms group by 1, 2
  ) m on m.integration = b.integration and m.id = b.id
 where b.on_books group by b.integration, b.brand_id, b.arrival_month, lower(regexp_replace(b.channel, '[\s_.-]+', '', 'g')), b.currency;
comment on view channel_mix is 'One row per brand, arrival month, channel and currency. Spellings that differ in case, spaces and points are one channel, shown by the most frequent one.';

create view country_mix as
select b.integration, b.brand_id, b.arrival_month, coalesce(b.country, 'unknown') as country, b.currency,
       count(*)::int as reservations, sum(b.stay_nights)::int as stay_nights, sum(m.room_nights)::int as room_nights, sum(b.total_amount) as amount
  from bookings b left join (
    select integration, id, sum(case when kind = 'room' then row_count else 0 end) as room_nights from booked_rooms group by 1, 2
  ) m on m.integration = b.integration and m.id = b.id
 where b.on_books group by 1, 2, 3, 4, 5;
comment on view country_mix is 'One row per brand, arrival month, nationality of the first guest and currency.';

create view lead_time as
select integration, brand_id, arrival_month, count(*)::int as reservations, round(avg(lead_days), 1) as average_days,
       percentile_cont(0.5) within group (order by lead_days) as median_days
  from bookings where on_books and lead_days is not null group by 1, 2, 3;
comment on view lead_time is 'One row per brand and arrival month: days from booking to arrival, where the partner states the booking date.';

create view length_of_stay as
select integration, brand_id, arrival_month, count(*)::int as reservations, sum(stay_nights)::int as stay_nights,
       round(avg(stay_nights), 2) as average_nights
  from bookings where on_books and stay_nights > 0 group by 1, 2, 3;
comment on view length_of_stay is 'One row per brand and arrival month: nights per stay; day use is left out.';

create view cancellations as
select integration, brand_id, arrival_month, count(*)::int as reservations,
       count(*) filter (where status = 'cancelled')::int as cancelled, count(*) filter (where status = 'no_show')::int as no_shows,
       round(100.0 * count(*) filter (where status = 'cancelled') / count(*), 1) as percent,
       round(100.0 * count(*) filter (where status = 'no_show') / count(*), 1) as no_show_percent,
       round(avg(check_in - cancelled_on) filter (where cancelled_on_source in ('partner', 'change')), 1) as average_days_before_arrival
  from bookings where on_books or status in ('cancelled', 'no_show') group by 1, 2, 3;
comment on view cancellations is 'One row per brand and arrival month: how many were cancelled or did not come. The average leaves out cancellations whose day nobody knows (first_seen).';
