-- Records that left their destinations. The checks are replaced without reading the tables: they only become wider.
set local lock_timeout = '3s';
alter table receipts drop constraint receipts_outcome_check,
  add constraint receipts_outcome_check
      check (outcome in ('created', 'updated', 'cancelled', 'erased', 'removed', 'unchanged', 'superseded', 'dropped', 'dead')) not valid;
alter table changes drop constraint changes_event_check,
  add constraint changes_event_check check (event in ('created', 'updated', 'cancelled', 'erased', 'removed')) not valid;

alter table outbox add column removed boolean not null default false, add column leaving boolean not null default false;
comment on column outbox.removed is 'The last version that was delivered said that the record has left the destination.';
comment on column outbox.leaving is 'The brand no longer delivers to the destination: what waits says that the record has left.';
