-- The present tables become the first partitions of partitioned tables. Nothing is copied or read: the checked constraints prove the
-- bounds, and existing indexes are attached. Each partition has its own primary key. A key of the whole table would have to contain
-- the time, and the versions of a record are already told apart by the lock on the record.
--
-- Later partitions are made ahead of time by the service (src/store/db/partitions.ts). The default partition takes rows that no other
-- takes: work that outlives its partition.
set local lock_timeout = '3s';
lock table receipts, changes, attempts in access exclusive mode;

alter table receipts rename to receipts_first;
alter table receipts_first rename constraint receipts_pkey to receipts_first_pkey;
alter index receipts_by_record rename to receipts_first_by_record;
alter index receipts_by_time rename to receipts_first_by_time;
alter index receipts_newest rename to receipts_first_newest;
alter index receipts_of_erasures rename to receipts_first_of_erasures;

alter table changes rename to changes_first;
alter table changes_first rename constraint changes_pkey to changes_first_pkey;
alter index changes_erased rename to changes_first_erased;

alter table attempts rename to attempts_first;
alter index attempts_by_record rename to attempts_first_by_record;
alter index attempts_by_time rename to attempts_first_by_time;

-- A sequence of its own: before PostgreSQL 17 partitions cannot have identity columns.
create sequence receipt_ids;
select setval('receipt_ids', (select last_value from receipts_receipt_id_seq), (select is_called from receipts_receipt_id_seq));
alter table receipts_first alter column receipt_id drop identity;
alter table receipts_first alter column receipt_id set default nextval('receipt_ids');

create table receipts (like receipts_first including defaults including constraints) partition by range (received_at);
alter table receipts drop constraint receipts_until;
create index receipts_by_record on receipts (integration, id, type, receipt_id);
create index receipts_by_time on receipts (received_at) where raw is not null;
create index receipts_newest on receipts (received_at desc) where outcome in ('created', 'updated', 'cancelled', 'erased');
create index receipts_of_erasures on receipts (cause_id) where cause = 'erasure';

create table changes (like changes_first including defaults including constraints) partition by range (at);
alter table changes drop constraint changes_until;
create index changes_erased on changes (integration, type, id) where erased is not null;

create table attempts (like attempts_first including defaults including constraints) partition by range (at);
alter table attempts drop constraint attempts_until;
create index attempts_by_record on attempts (integration, id, type, at);
create index attempts_by_time on attempts using brin (at);

do $$
declare
  name text;
  bound text;
begin
  foreach name in array array['receipts', 'changes', 'attempts'] loop
    select substring(pg_get_constraintdef(oid) from '''([^'']+)''') into strict bound
      from pg_constraint where conname = name || '_until' and conrelid = (name || '_first')::regclass;
    execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', name, name || '_first', bound);
    execute format('alter table %I drop constraint %I', name || '_first', name || '_until');
    execute format('create table %I partition of %I default', name || '_kept', name);
  end loop;
end $$;
alter table receipts_kept add primary key (integration, receipt_id);
alter table changes_kept add primary key (integration, id, type, version);

comment on table receipts is 'What came in for a record and what became of it: the timeline. raw is emptied after its retention. Partitioned by time; retention drops partitions.';
comment on column receipts.origins is 'From which raw path each field came; null where raw alone tells it again.';
comment on table changes is 'Every version of every record, as it is delivered. Partitioned by time; retention drops partitions.';
comment on column changes.erased is 'Of an erasure: what the erased guests were known by, for destinations that find them by it. Emptied as soon as every destination was told.';
comment on table attempts is 'Each try to deliver a version, with the answer. Partitioned by time; retention drops partitions.';
