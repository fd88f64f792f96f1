-- Jobs are leased like all other work: due_at is when the next step is due, or when the lease ends. A small table.
drop index jobs_to_do;
alter table jobs rename column leased_until to due_at;
update jobs set due_at = case when state in ('queued', 'running') then coalesce(due_at, now()) end;
alter table jobs alter column due_at set default now();
create index jobs_due on jobs (due_at) where due_at is not null;
