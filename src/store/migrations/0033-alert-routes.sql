create table alert_sends (
  route    text not null,
  alert_id text not null references alerts on delete cascade,
  sent     text not null default 'nothing' check (sent in ('nothing', 'raised', 'resolved')),
  due_at   timestamptz,
  leased   boolean not null default false,
  fence    bigint not null default 0,
  attempt  int not null default 0,
  failure  text,
  sent_at  timestamptz,
  primary key (route, alert_id)
);
create index alert_sends_due on alert_sends (due_at) where due_at is not null;
create index alert_sends_by_alert on alert_sends (alert_id);
comment on table alert_sends is 'One row per route and alert: what the route knows of it, and when to try next, or when a lease ends. Written in the transaction that raises or resolves the alert.';

-- What the one webhook knew until now.
insert into alert_sends (route, alert_id, sent, due_at)
select 'alerts.webhook', alert_id, told, case when told = 'nothing' or resolved_at is not null then now() end
  from alerts where told <> 'resolved' and raised_at > now() - interval '2 days';
alter table alerts drop column told;
comment on table alerts is 'What somebody should look at. One open alert per kind, brand and subject; it resolves when its cause is gone.';
