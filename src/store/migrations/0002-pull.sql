create table schedules (
  integration text not null,
  sync        text not null check (sync in ('pre_stay', 'stay', 'post_stay')),
  every_ms    int  not null,
  phase_ms    int  not null,
  next_at     timestamptz not null,
  last_run_id text,
  skipped     int  not null default 0,
  primary key (integration, sync)
) with (fillfactor = 80);
create index schedules_due on schedules (next_at);
comment on table schedules is 'When each sync starts next. phase_ms spreads the starts: a sync starts at multiples of every_ms, shifted by it. skipped counts starts that found the run before still going.';

create table runs (
  integration text not null,
  run_id      text not null,
  sync        text not null check (sync in ('pre_stay', 'stay', 'post_stay', 'backfill')),
  kind        text not null check (kind in ('scheduled', 'manual', 'backfill')),
  state       text not null check (state in ('queued', 'running', 'complete', 'incomplete', 'failed')),
  from_date   date,
  to_date     date,
  requested_by text not null,
  queued_at   timestamptz not null default now(),
  started_at  timestamptz,
  finished_at timestamptz,
  due_at      timestamptz,
  fence       bigint not null default 0,
  node        text,
  waiting     text,
  position    jsonb,
  connector_version   int,
  integration_version int,
  pages       int not null default 0,
  requests    int not null default 0,
  retries     int not null default 0,
  waited_ms   bigint not null default 0,
  bytes       bigint not null default 0,
  rows        int not null default 0,
  fetched     int not null default 0,
  changed     int not null default 0,
  unchanged   int not null default 0,
  superseded  int not null default 0,
  dropped     int not null default 0,
  skipped     int not null default 0,
  dead        int not null default 0,
  error_code  text,
  error_message text,
  findings    jsonb not null default '[]',
  primary key (integration, run_id)
) with (fillfactor = 70);
create unique index runs_one_at_a_time on runs (integration, sync) where state in ('queued', 'running');
create index runs_due on runs (due_at) where due_at is not null;
create index runs_recent on runs (queued_at desc);
create index runs_of_sync on runs (integration, sync, queued_at desc);
comment on table runs is 'Each execution of a sync or backfill. due_at is when a node may claim it: at once while queued, when the lease ends while running, later while it waits for the partner; null when it is over.';

create table run_pages (
  integration  text not null,
  run_id       text not null,
  page_no      int  not null,
  window_from  date not null,
  window_to    date not null,
  pass         int  not null,
  requested_at timestamptz not null,
  duration_ms  int  not null,
  tries        int  not null,
  waited_ms    int  not null,
  bytes        int  not null,
  rows         int  not null,
  fresh        int  not null,
  changed      int  not null,
  mark         float8 not null,
  fingerprint  float8 not null,
  seen         bytea,
  primary key (integration, run_id, page_no)
);
comment on table run_pages is 'What each page of a run was asked, answered and brought. mark and fingerprint show pages that come again; seen holds the hashes of its rows until the run ends.';

create table staged_rows (
  integration  text not null,
  run_id       text not null,
  key          text not null,
  row_hash     bytea not null,
  row_no       bigint not null,
  requested_at timestamptz not null,
  row          jsonb not null,
  primary key (integration, run_id, key, row_hash)
);
comment on table staged_rows is 'Rows of flat lists, gathered until the run has them all and reservations can be put together.';

create table partner_apis (
  api          text primary key,
  state        text not null default 'closed' check (state in ('closed', 'open', 'probing')),
  failures     int  not null default 0,
  cooldown_ms  int  not null default 0,
  opened_at    timestamptz,
  until        timestamptz,
  last_failure text,
  last_failure_at timestamptz,
  next_slot_at timestamptz
);
comment on table partner_apis is 'One row per partner API that failed or has a rate: the circuit breaker that all nodes share (until is the end of the rest, or of the probe under way) and the rate budget.';

create table partner_states (
  integration    text primary key,
  retry_at       timestamptz,
  auth_failed_at timestamptz,
  auth_failed_version int,
  auth_message   text,
  uncut_rows     int,
  uncut_at       timestamptz
);
comment on table partner_states is 'What a partner told us that outlives a run: not before retry_at (429), credentials refused, and the largest short page that was shown to be an end and no cut.';

create table partner_tokens (
  integration text primary key,
  identity    text not null,
  generation  bigint not null default 0,
  access      bytea,
  refresh     bytea,
  expires_at  timestamptz,
  obtained_at timestamptz,
  renewing_since timestamptz,
  lost        text
);
comment on table partner_tokens is 'OAuth tokens, sealed. identity tells which client and address they belong to; renewing_since is set before a refresh is sent, so that a crash in between is seen.';

create table consents (
  state_hash  bytea primary key,
  integration text not null,
  verifier    bytea,
  redirect_uri text not null,
  requested_by text not null,
  expires_at  timestamptz not null
);
comment on table consents is 'Consent links that were handed out and not come back yet.';

create table pulled (
  integration text not null,
  key         text not null,
  id          text not null,
  version     int  not null,
  check_in    date not null,
  check_out   date not null,
  status      text not null,
  content     float8 not null,
  made_by     text not null,
  primary key (integration, key)
) with (fillfactor = 85);
create index pulled_by_id on pulled (integration, id);
comment on table pulled is 'What a partner''s list last showed of each reservation, as a hash, with the version that came of it and what made it (documents and program). While all three stand, the same row again is known to change nothing, without being read.';
