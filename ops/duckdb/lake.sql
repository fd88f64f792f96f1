-- The tables of the warehouse over the Parquet files of a `files` or `s3` destination. Read this file in DuckDB and then the views of the
-- warehouse, src/core/deliver/destinations/postgres/migrations/0002-views.sql: they answer the same questions by the same formulas.
--
--   set variable lake = 'out/lake';         -- the folder, or s3://bucket/prefix
--   .read ops/duckdb/lake.sql
--   .read src/core/deliver/destinations/postgres/migrations/0002-views.sql

create macro array_remove(list, gone) as list_filter(list, lambda x: x is not null);
create macro cents(total, i, n, units) as
  cast(floor(total * units) as hugeint) * i // n * case units when 1 then 1 when 1000 then 0.001 else 0.01 end;
create macro spread(total, i, n, units) as
  case when i = n then total else cents(total, i, n, units) end - case when i = 1 then 0 else cents(total, i - 1, n, units) end;

create table brands as
select integration, any_value(brand_id) as brand_id, any_value(timezone) as timezone, any_value(country) as country,
       list(from_night order by from_night) filter (where from_night is not null) as capacity_from,
       list(rooms order by from_night) filter (where from_night is not null) as capacity_rooms
  from read_csv(getvariable('lake') || '/_brands/*.csv', header => true, types => {'from_night': 'DATE', 'rooms': 'INTEGER'})
 group by integration;

create table versions as
select distinct on (integration, id, epoch, version) * replace (changed_at::timestamp at time zone 'UTC' as changed_at, stated_at::timestamp at time zone 'UTC' as stated_at)
  from read_parquet(getvariable('lake') || '/**/*.parquet', union_by_name => true, hive_partitioning => false)
 where type = 'reservation';

create table version_rooms as
select integration, id, epoch, version, (i - 1)::int as position, unnest(rooms[i]) from versions cross join generate_series(1, len(rooms)) as t (i);
create table version_charges as
select integration, id, epoch, version, unnest(charges[i]) from versions cross join generate_series(1, len(charges)) as t (i)
 where charges[i].charge_kind = 'room';
create table reservation_versions as
select * exclude (guests, rooms, charges), coalesce(len(guests), 0) as guest_count, coalesce(len(rooms), 0) as room_count from versions;

create table reservations as
select distinct on (v.integration, v.id) v.*, case when s.event = 'removed' then s.changed_at end as removed_at
  from versions v left join (
    -- An erasure does not bring a record back.
    select distinct on (integration, id) integration, id, event, changed_at from versions
     where event <> 'erased' order by integration, id, epoch desc, version desc
  ) s on s.integration = v.integration and s.id = v.id
 order by v.integration, v.id, v.epoch desc, v.version desc;

create table guests as
select integration, id as reservation_id, (i - 1)::int as position, unnest(guests[i]) from reservations cross join generate_series(1, len(guests)) as t (i);
create table rooms as
select integration, id as reservation_id, (i - 1)::int as position, unnest(rooms[i]) from reservations cross join generate_series(1, len(rooms)) as t (i);
create table charges as
select integration, id as reservation_id, (i - 1)::int as position, unnest(charges[i]) from reservations cross join generate_series(1, len(charges)) as t (i);
