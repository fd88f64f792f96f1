-- Receipts, changes and attempts become partitioned by time in three steps, each of which blocks others for a moment only: this one
-- states which times the present tables hold, the next checks it while others write, the third attaches them as first partitions.
-- The bound is the day after tomorrow (UTC), so that the three steps may take a day.
set local lock_timeout = '3s';
do $$
declare
  bound text := quote_literal(((now() at time zone 'UTC')::date + 2)::text || ' 00:00:00+00');
begin
  execute format('alter table receipts add constraint receipts_until check (received_at < %s) not valid', bound);
  execute format('alter table changes add constraint changes_until check (at < %s) not valid', bound);
  execute format('alter table attempts add constraint attempts_until check (at < %s) not valid', bound);
end $$;
