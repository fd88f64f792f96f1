-- Keys lead with the integration, so that the tables can be partitioned or distributed by brand.

create table documents (
  kind       text not null check (kind in ('connector', 'integration', 'destination', 'workspace')),
  name       text not null,
  version    int  not null,
  source     text not null,
  body       json not null,
  hash       text not null,
  applied_at timestamptz not null default now(),
  applied_by text not null,
  primary key (kind, name, version)
);
comment on table documents is 'Every version of every document that was ever applied. Bodies hold references to secrets, never secrets.';

create table current_documents (
  kind    text not null,
  name    text not null,
  version int  not null,
  primary key (kind, name),
  foreign key (kind, name, version) references documents
);
comment on table current_documents is 'The version in force of each document; a removed document has no row.';

create table secrets (
  name       text primary key,
  sealed     bytea not null,
  updated_at timestamptz not null default now()
);

-- Orders what came in at the same effective time, the same way on every node.
create sequence intake_seq;

create table records (
  integration  text not null,
  type         text not null check (type in ('reservation', 'guest')),
  id           text not null,
  version      int  not null,
  effective_at timestamptz not null,
  seq          bigint not null,
  hash         bytea not null,
  data         jsonb not null,
  created_at   timestamptz not null default now(),
  changed_at   timestamptz not null default now(),
  primary key (integration, type, id)
) with (fillfactor = 85);
comment on table records is 'The newest version of each reservation and guest. A poll that brings nothing new writes nothing here.';

create table receipts (
  integration  text not null,
  receipt_id   bigint generated always as identity,
  type         text not null,
  id           text not null,
  received_at  timestamptz not null default now(),
  effective_at timestamptz not null,
  seq          bigint not null,
  cause        text not null check (cause in ('run', 'event', 'replay', 'guest')),
  cause_id     text not null,
  outcome      text not null check (outcome in ('created', 'updated', 'cancelled', 'erased', 'unchanged', 'superseded', 'dropped', 'dead')),
  version      int,
  reason       text,
  connector_version   int,
  integration_version int,
  raw          jsonb,
  notes        jsonb not null default '[]',
  origins      jsonb,
  primary key (integration, receipt_id)
);
create index receipts_by_record on receipts (integration, type, id, receipt_id);
create index receipts_by_time on receipts (received_at) where raw is not null;
comment on table receipts is 'What came in for a record and what became of it: the timeline. raw is emptied after its retention.';

create table changes (
  integration text not null,
  type        text not null,
  id          text not null,
  version     int  not null,
  event       text not null check (event in ('created', 'updated', 'cancelled', 'erased')),
  at          timestamptz not null default now(),
  receipt_id  bigint not null,
  data        json not null,
  diff        jsonb not null,
  idempotency_key text not null,
  primary key (integration, type, id, version)
);
comment on table changes is 'Every version of every record, as it is delivered.';

create table sightings (
  integration  text not null,
  requested_at timestamptz not null,
  run_id       text not null,
  ids          text[] not null
);
create index sightings_by_time on sightings (integration, requested_at);
comment on table sightings is 'Reservations that a pulled page showed unchanged. An event older than a sighting is superseded by it, without a write to the reservation at each poll.';

create table outbox (
  integration       text not null,
  destination       text not null,
  type              text not null,
  id                text not null,
  next_version      int  not null,
  last_version      int  not null,
  delivered_version int  not null default 0,
  due_at            timestamptz,
  attempt           int  not null default 0,
  fence             bigint not null default 0,
  leased            boolean not null default false,
  held_by           bigint,
  primary key (integration, destination, type, id)
) with (fillfactor = 70);
create index outbox_due on outbox (integration, destination, due_at) where due_at is not null;
comment on table outbox is 'One row per destination and record: versions next_version to last_version wait. due_at is when to try next, or when a lease ends; null when nothing waits or a dead letter holds the record back.';

create table attempts (
  integration text not null,
  destination text not null,
  type        text not null,
  id          text not null,
  version     int  not null,
  attempt     int  not null,
  at          timestamptz not null default now(),
  outcome     text not null check (outcome in ('delivered', 'skipped', 'retry', 'dead')),
  code        text,
  status      int,
  message     text,
  duration_ms int,
  node        text
);
create index attempts_by_record on attempts (integration, type, id, at);
comment on table attempts is 'Each try to deliver a version, with the answer.';

create table dead_letters (
  integration  text not null,
  dead_letter_id bigint generated always as identity,
  kind         text not null check (kind in ('event', 'record', 'delivery')),
  fingerprint  text not null,
  type         text,
  id           text,
  destination  text,
  version      int,
  code         text not null,
  message      text not null,
  detail       jsonb not null default '{}',
  raw          jsonb,
  cause        text,
  cause_id     text,
  connector_version   int,
  integration_version int,
  times        int not null default 1,
  at           timestamptz not null default now(),
  last_at      timestamptz not null default now(),
  state        text not null default 'open' check (state in ('open', 'replayed', 'dropped')),
  closed_at    timestamptz,
  closed_by    text,
  closed_reason text,
  primary key (integration, dead_letter_id)
);
create unique index dead_letters_open on dead_letters (integration, kind, fingerprint) where state = 'open';
create index dead_letters_by_record on dead_letters (integration, type, id);
comment on table dead_letters is 'What failed for good, whole, with its reason. The same record failing again at the next poll counts up, it does not pile up.';

create table endpoints (
  endpoint_id text primary key,
  integration text not null,
  sandbox     boolean not null default false,
  issued_at   timestamptz not null default now(),
  retired_at  timestamptz
);
create unique index endpoints_live on endpoints (integration, sandbox) where retired_at is null;

create table endpoint_secrets (
  endpoint_id text not null references endpoints,
  secret_no   int  not null,
  sealed      bytea not null,
  issued_at   timestamptz not null default now(),
  expires_at  timestamptz,
  primary key (endpoint_id, secret_no)
);
comment on table endpoint_secrets is 'Webhook secrets, sealed. While two are valid, a sender may sign with either.';

create table events (
  integration  text not null,
  seq          bigint not null default nextval('intake_seq'),
  endpoint_id  text not null,
  event_id     text not null,
  event        text not null,
  occurred_at  timestamptz not null,
  received_at  timestamptz not null,
  body         bytea,
  body_hash    bytea not null,
  state        text not null default 'pending' check (state in ('pending', 'waiting', 'done', 'dead')),
  outcome      text,
  type         text,
  id           text,
  version      int,
  due_at       timestamptz,
  attempt      int not null default 0,
  primary key (integration, seq)
);
create unique index events_once on events (endpoint_id, event_id);
create index events_pending on events (integration, seq) where state = 'pending';
create index events_by_time on events (received_at);
comment on table events is 'Webhooks accepted: durable before the answer, taken once per event id.';

create table drift (
  integration text not null,
  field       text not null,
  value       text not null,
  times       bigint not null default 1,
  first_at    timestamptz not null default now(),
  last_at     timestamptz not null default now(),
  primary key (integration, field, value)
);
comment on table drift is 'Values of the partner that no value map knows: they passed as they are, somebody should look.';

create table nodes (
  node       text primary key,
  role       text not null,
  url        text not null,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);
comment on table nodes is 'The running nodes, each renewing its row; one that was killed is forgotten after a minute.';
