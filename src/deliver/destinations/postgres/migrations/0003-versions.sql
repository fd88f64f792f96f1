create table reservation_versions (
  integration         text not null,
  id                  text not null,
  brand_id            text not null,
  epoch               int  not null,
  version             int  not null,
  event               text not null,
  idempotency_key     text not null,
  changed_at          timestamptz not null,
  loaded_at           timestamptz not null default now(),
  confirmation_number text,
  check_in            date,
  check_out           date,
  booking_date        date,
  status              text,
  status_raw          text,
  channel             text,
  source              text,
  total_amount        numeric,
  currency            text,
  guest_count         int  not null,
  room_count          int  not null,
  primary key (integration, id, epoch, version)
);
comment on table reservation_versions is 'Every version of every reservation, as it was. No personal data: guests are only counted.';
comment on column reservation_versions.version is 'Rises by one with every change of the reservation.';
comment on column reservation_versions.event is 'Why there is this version: created, updated, cancelled or erased.';
comment on column reservation_versions.changed_at is 'When the change was taken in.';
create index reservation_versions_changed_at on reservation_versions (changed_at);

insert into reservation_versions (integration, id, brand_id, epoch, version, event, idempotency_key, changed_at, confirmation_number,
       check_in, check_out, booking_date, status, status_raw, channel, source, total_amount, currency, guest_count, room_count)
select integration, id, brand_id, epoch, version, event, idempotency_key, changed_at, confirmation_number,
       check_in, check_out, booking_date, status, status_raw, channel, source, total_amount, currency,
       (select count(*) from guests g where g.integration = r.integration and g.reservation_id = r.id),
       (select count(*) from rooms m where m.integration = r.integration and m.reservation_id = r.id)
  from reservations r;

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
comment on view reservation_changes is 'What changed with each version of a reservation, in columns of reservation_versions. The first version changes all that it states.';

create view pickup_by_day as
with stated as (
  select integration, brand_id, changed_at, check_in, currency,
         case when counts then 1 else 0 end as reservations,
         case when counts then (check_out - check_in) * greatest(room_count, 1) else 0 end as room_nights,
         case when counts then coalesce(total_amount, 0) else 0 end as amount,
         lead(changed_at) over (partition by integration, id order by epoch, version) as next_changed_at
    from (select *, coalesce(status not in ('cancelled', 'no_show'), true) as counts from reservation_versions) v
)
select integration, brand_id, changed_at::date as day, date_trunc('month', check_in)::date as arrival_month, currency,
       sum(reservations)::int as reservations, sum(room_nights)::int as room_nights, sum(amount) as amount
  from (
    -- What the version adds, and what the version before it no longer counts for.
    select integration, brand_id, changed_at, check_in, currency, reservations, room_nights, amount from stated
    union all
    select integration, brand_id, next_changed_at, check_in, currency, -reservations, -room_nights, -amount
      from stated where next_changed_at is not null
  ) moves
 group by 1, 2, 3, 4, 5
having sum(reservations) <> 0 or sum(room_nights) <> 0 or sum(amount) <> 0;
comment on view pickup_by_day is 'What each day added to the books of each arrival month, and took from them: bookings, changes and cancellations.';

create view channel_mix as
select integration, brand_id, date_trunc('month', check_in)::date as arrival_month, coalesce(channel, source, 'unknown') as channel, currency,
       count(*)::int as reservations, sum(check_out - check_in)::int as nights, sum(total_amount) as amount
  from reservations where status not in ('cancelled', 'no_show') group by 1, 2, 3, 4, 5;
comment on view channel_mix is 'Reservations, nights and amount by arrival month and channel; cancelled ones and no-shows are not counted.';

create view lead_time as
select integration, brand_id, date_trunc('month', check_in)::date as arrival_month, count(*)::int as reservations,
       round(avg(check_in - booking_date), 1) as average_days,
       percentile_cont(0.5) within group (order by check_in - booking_date) as median_days
  from reservations where booking_date <= check_in and status not in ('cancelled', 'no_show') group by 1, 2, 3;
comment on view lead_time is 'Days from booking to arrival, by arrival month; only where the partner states the booking date.';

create view cancellations as
select r.integration, r.brand_id, date_trunc('month', r.check_in)::date as arrival_month, count(*)::int as reservations,
       count(*) filter (where r.status = 'cancelled')::int as cancelled,
       round(100.0 * count(*) filter (where r.status = 'cancelled') / count(*), 1) as percent,
       round(avg(r.check_in - v.cancelled_on) filter (where r.status = 'cancelled'), 1) as average_days_before_arrival
  from reservations r
  left join lateral (select min(changed_at)::date as cancelled_on from reservation_versions v
                      where v.integration = r.integration and v.id = r.id and v.status = 'cancelled') v on true
 group by 1, 2, 3;
comment on view cancellations is 'How many reservations of each arrival month were cancelled, and how long before the arrival.';
