-- The epoch outranks the version of a record in messages and in warehouses. It rises when the database was restored from an older backup:
-- versions that destinations received before the restore are then used a second time, with other contents.
create table store_state (
  single    boolean primary key default true check (single),
  epoch     int not null default 1,
  -- Counts up while nodes run. A node that remembers a higher number than it finds knows that the database is an older copy.
  beat      bigint not null default 0,
  raised_at timestamptz,
  reason    text
);
insert into store_state default values;
