create table tokens (
  token_id     text primary key,
  kind         text not null check (kind in ('api', 'sign_in', 'session')),
  hash         bytea not null unique,
  name         text not null,
  role         text not null check (role in ('viewer', 'operator', 'admin')),
  integrations text[],
  parent       text references tokens on delete cascade,
  created_at   timestamptz not null default now(),
  created_by   text not null,
  expires_at   timestamptz,
  last_used_at timestamptz,
  revoked_at   timestamptz
);
create index tokens_by_parent on tokens (parent) where parent is not null;
comment on table tokens is 'Who may call the API: tokens, one-time sign-in links and the sessions made from either. Only hashes; 256 random bits need no salt. integrations null means every brand.';

create table audit (
  audit_id    bigint generated always as identity primary key,
  at          timestamptz not null default now(),
  actor       text not null,
  token_id    text,
  action      text not null,
  integration text,
  target      jsonb not null default '{}',
  status      int,
  request_id  text,
  address     text
);
create index audit_by_time on audit (at);
create index audit_by_integration on audit (integration, audit_id) where integration is not null;
comment on table audit is 'Who did what, and who looked at payloads. Targets are ids and names; no guest data.';

create table pauses (
  integration text primary key,
  paused_at   timestamptz not null default now(),
  paused_by   text not null,
  reason      text
);
comment on table pauses is 'Integrations whose scheduled pulls an operator stopped. Apart from the documents, so that applying them does not undo it.';

create table activity (
  integration text not null,
  step        text not null check (step in ('10s', '1h')),
  at          timestamptz not null,
  events      int not null default 0,
  pulls       int not null default 0,
  changes     int not null default 0,
  delivered   int not null default 0,
  retried     int not null default 0,
  dead        int not null default 0,
  latency_p50_ms int,
  latency_p95_ms int,
  waiting     int not null default 0,
  primary key (integration, step, at)
);
create index activity_by_time on activity (step, at);
comment on table activity is 'What happened to each brand in each ten seconds (hours) of the last hours (weeks), counted once for charts, live rates and the habit that silence is judged by. Nothing happened: no row. pulls counts runs that found records; latency is from a change to its delivery.';

create table marks (
  name text primary key,
  at   timestamptz not null
);
comment on table marks is 'Up to where a counting task has come, over all nodes.';

create table alerts (
  alert_id    text primary key,
  kind        text not null,
  integration text not null default '',
  subject     text not null default '',
  severity    text not null check (severity in ('warning', 'critical')),
  message     text not null,
  detail      jsonb not null default '{}',
  raised_at   timestamptz not null default now(),
  seen_at     timestamptz not null default now(),
  acknowledged_at timestamptz,
  acknowledged_by text,
  resolved_at timestamptz,
  told        text not null default 'nothing' check (told in ('nothing', 'raised', 'resolved'))
);
create unique index alerts_open on alerts (kind, integration, subject) where resolved_at is null;
create index alerts_by_time on alerts (raised_at desc);
create index alerts_untold on alerts (raised_at) where told <> 'resolved';
comment on table alerts is 'What somebody should look at. One open alert per kind, brand and subject; it resolves when its cause is gone. told is what the outgoing webhook knows of it.';

create table erasures (
  erasure_id   text primary key,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  completed_at timestamptz,
  subject      text not null,
  receipt      jsonb
);
comment on table erasures is 'Proof of each erasure: when, by whom, how much was removed where. The subject is a keyed hash, so the receipt does not hold what was erased.';

create table erased_guests (
  hash        bytea primary key,
  erasure_id  text not null references erasures,
  erased_at   timestamptz not null default now()
);
comment on table erased_guests is 'Keyed hashes of what erased guests were known by: what comes in again under one of them loses the guest before it is stored.';

alter table receipts
  drop constraint receipts_cause_check,
  add constraint receipts_cause_check check (cause in ('run', 'event', 'replay', 'guest', 'erasure'));

-- What people search by joins what guests are found by: one table of keys, kept by the triggers on records. Indexes on records
-- itself were the alternative; data and changed_at change with every version, and no update could stay on its page (HOT).
create or replace function guest_keys_of(type text, data jsonb) returns setof text
language sql immutable parallel safe
as $$
  select keys.kind || ':' || keys.value
    from jsonb_array_elements(case when type = 'guest' then jsonb_build_array(data) else data -> 'guests' end) as guests (guest),
         lateral (values ('guest_id', guest ->> 'guest_id'),
                         ('email', case when guest -> 'email_proxy' = 'true' then null else guest ->> 'email' end),
                         ('alias', case when guest -> 'email_proxy' = 'true' then guest ->> 'email' end),
                         ('email_raw', lower(left(guest ->> 'email_raw', 320))),
                         ('phone', guest ->> 'phone'),
                         ('last_name', lower(left(guest ->> 'last_name', 100)))) as keys (kind, value)
   where keys.value <> ''
  union all
  select 'confirmation_number:' || lower(left(data ->> 'confirmation_number', 200))
   where type = 'reservation' and data ->> 'confirmation_number' <> ''
$$;
insert into guest_keys (integration, key, type, id)
select r.integration, key, r.type, r.id from records r, guest_keys_of(r.type, r.data) as key
    on conflict do nothing;
create index guest_keys_prefix on guest_keys (key text_pattern_ops);

create index receipts_newest on receipts (received_at desc) where outcome in ('created', 'updated', 'cancelled', 'erased');

alter table changes add column erased jsonb;
comment on column changes.erased is 'Of an erasure: what the erased guests were known by, for destinations that find them by it. Emptied as soon as every destination was told.';
create index changes_erased on changes (integration, type, id) where erased is not null;

create table totals (
  integration text primary key,
  events      bigint not null default 0,
  changes     bigint not null default 0,
  delivered   bigint not null default 0,
  retried     bigint not null default 0,
  dead        bigint not null default 0
);
comment on table totals is 'Counted with the activity and never forgotten: counters for metrics, the same on every node.';
