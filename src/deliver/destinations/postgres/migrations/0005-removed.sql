alter table reservations add column removed_at timestamptz;
comment on column reservations.removed_at is 'When the reservation left: a rule drops it, the filter no longer matches, or the brand no longer delivers here. Only its keys are kept.';
alter table guest_profiles add column removed_at timestamptz;
comment on column guest_profiles.removed_at is 'When the guest left, as in reservations.';
comment on column reservations.event is 'What the newest change was: created, updated, cancelled, erased or removed.';
comment on column reservation_versions.event is 'Why there is this version: created, updated, cancelled, erased or removed.';

create or replace view arrivals_by_day as
  select integration, brand_id, check_in as day, count(*) as reservations,
         sum((select count(*) from rooms m where m.integration = r.integration and m.reservation_id = r.id)) as rooms,
         sum((select coalesce(sum(coalesce(m.adults, 0) + coalesce(m.children, 0)), 0) from rooms m
               where m.integration = r.integration and m.reservation_id = r.id)) as people
    from reservations r
   where status in ('confirmed', 'checked_in', 'checked_out') and check_in is not null and removed_at is null
   group by integration, brand_id, check_in;

create or replace view guests_with_stays as
  select g.integration, r.brand_id, coalesce(g.guest_id, g.email, g.phone) as guest,
         max(g.first_name) as first_name, max(g.last_name) as last_name, max(g.email) as email, max(g.phone) as phone,
         count(distinct r.id) as stays,
         sum(greatest(r.check_out - r.check_in, 0)) as nights,
         min(r.check_in) as first_check_in, max(r.check_out) as last_check_out
    from guests g
    join reservations r on r.integration = g.integration and r.id = g.reservation_id
   where r.status in ('confirmed', 'checked_in', 'checked_out') and r.removed_at is null
     and coalesce(g.guest_id, g.email, g.phone) is not null
     and g.email_proxy is not true
   group by g.integration, r.brand_id, coalesce(g.guest_id, g.email, g.phone);

create or replace view pickup_by_day as
with stated as (
  select integration, brand_id, changed_at, check_in, currency,
         case when counts then 1 else 0 end as reservations,
         case when counts then (check_out - check_in) * greatest(room_count, 1) else 0 end as room_nights,
         case when counts then coalesce(total_amount, 0) else 0 end as amount,
         lead(changed_at) over (partition by integration, id order by epoch, version) as next_changed_at
    from (select *, event <> 'removed' and coalesce(status not in ('cancelled', 'no_show'), true) as counts from reservation_versions) v
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

create or replace view channel_mix as
select integration, brand_id, date_trunc('month', check_in)::date as arrival_month, coalesce(channel, source, 'unknown') as channel, currency,
       count(*)::int as reservations, sum(check_out - check_in)::int as nights, sum(total_amount) as amount
  from reservations where status not in ('cancelled', 'no_show') and removed_at is null group by 1, 2, 3, 4, 5;

create or replace view lead_time as
select integration, brand_id, date_trunc('month', check_in)::date as arrival_month, count(*)::int as reservations,
       round(avg(check_in - booking_date), 1) as average_days,
       percentile_cont(0.5) within group (order by check_in - booking_date) as median_days
  from reservations
 where booking_date <= check_in and status not in ('cancelled', 'no_show') and removed_at is null group by 1, 2, 3;

create or replace view cancellations as
select r.integration, r.brand_id, date_trunc('month', r.check_in)::date as arrival_month, count(*)::int as reservations,
       count(*) filter (where r.status = 'cancelled')::int as cancelled,
       round(100.0 * count(*) filter (where r.status = 'cancelled') / count(*), 1) as percent,
       round(avg(r.check_in - v.cancelled_on) filter (where r.status = 'cancelled'), 1) as average_days_before_arrival
  from reservations r
  left join lateral (select min(changed_at)::date as cancelled_on from reservation_versions v
                      where v.integration = r.integration and v.id = r.id and v.status = 'cancelled') v on true
 where r.removed_at is null
 group by 1, 2, 3;
