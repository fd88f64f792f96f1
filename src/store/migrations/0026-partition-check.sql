-- Reads the tables once, beside readers and writers.
alter table receipts validate constraint receipts_until;
alter table changes validate constraint changes_until;
alter table attempts validate constraint attempts_until;
