-- Keys that tell two records apart by their second column. With type, or destination and type, in front of the id, every step down
-- an index compared columns that are the same in nearly all rows.
alter table records drop constraint records_pkey, add primary key (integration, id, type);
alter table changes drop constraint changes_pkey, add primary key (integration, id, type, version);
alter table outbox drop constraint outbox_pkey, add primary key (integration, id, type, destination);
drop index receipts_by_record;
create index receipts_by_record on receipts (integration, id, type, receipt_id);
drop index attempts_by_record;
create index attempts_by_record on attempts (integration, id, type, at);
