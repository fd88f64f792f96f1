-- additive
alter table jobs add column halvings int not null default 0;
comment on column jobs.halvings is 'How often the steps were halved because one took too long. A quick step takes one back.';
