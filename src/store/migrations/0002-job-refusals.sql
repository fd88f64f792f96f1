-- additive: a worker of 0.2.0 leaves the column empty. It has a constant default, so the table is not rewritten, whatever its size.
set local lock_timeout = '2s';
alter table jobs add column refusals jsonb not null default '[]';
comment on column jobs.refusals is 'The first records that it did not process, with the reason.';
