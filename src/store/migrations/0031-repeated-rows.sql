alter table runs add column repeated int not null default 0;
comment on column runs.repeated is 'Rows that had the id of a later row of the same page, which counts. Not for flat rows, which share their id by design.';
