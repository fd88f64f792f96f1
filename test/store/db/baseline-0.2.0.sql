-- The schema of this version. A new database is created from it; an older one is brought to it by the files in migrations/
-- (src/core/store/db/migrate.ts). Keys begin with the integration, so that the tables can be distributed by brand.

-- Orders what arrives, the same way on every node.
create sequence intake_seq;
create sequence history_entries;
create sequence document_positions;

-- Documents and secrets

create table documents (
  kind text not null,
  name text not null,
  version int not null,
  source text not null,
  body json not null,
  hash text not null,
  applied_at timestamptz not null default now(),
  applied_by text not null,
  in_force boolean not null default false,
  position bigint,
  primary key (kind, name, version),
  check (kind in ('connector', 'integration', 'destination', 'workspace'))
);
create unique index documents_in_force on documents (kind, name) where in_force;
create unique index documents_by_position on documents (position) where position is not null;
comment on table documents is 'Every version of every document that was ever applied, and which one is in force. Bodies hold references to secrets, never secrets.';
comment on column documents.position is 'Orders the changes: when the document last came into force or was removed. Null for versions that another one replaced.';

create table mapping_cases (
  connector text not null,
  name text not null,
  sample text not null,
  push boolean not null,
  timezone text,
  country text,
  expected jsonb not null,
  saved_at timestamptz not null default now(),
  saved_by text not null,
  primary key (connector, name)
);
comment on table mapping_cases is 'Samples that an operator kept with the records they became: a changed mapping is compared with them. They hold guest data; an erasure deletes those that name the person.';

create table secrets (
  name text primary key,
  sealed bytea not null,
  updated_at timestamptz not null default now()
);
comment on table secrets is 'Secrets that documents refer to, and the service''s own (innbound.…): its keys of hashes, and authorizations at a partner that wait for their redirect. Sealed with the key of the installation.';

create table replaced_keys (
  key_id text primary key,
  replaced_by text not null,
  replaced_at timestamptz not null default now(),
  retired_at timestamptz
);
comment on table replaced_keys is 'Ids of the keys that a rotation replaced; the keys themselves are not in the database.';

-- What arrived

create table endpoints (
  endpoint_id text primary key,
  integration text not null,
  sandbox boolean not null default false,
  issued_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index endpoints_live on endpoints (integration, sandbox) where (retired_at is null);
comment on table endpoints is 'The address that each brand''s partner sends its events to, and the one of its sandbox. A retired address is kept and never issued again.';

create table endpoint_secrets (
  endpoint_id text not null,
  secret_no int not null,
  sealed bytea not null,
  issued_at timestamptz not null default now(),
  expires_at timestamptz,
  primary key (endpoint_id, secret_no),
  foreign key (endpoint_id) references endpoints(endpoint_id)
);
comment on table endpoint_secrets is 'Webhook secrets, sealed. While two are valid, a sender may sign with either.';

create table streams (
  stream text primary key,
  account text not null,
  resume_from text,
  resume_at timestamptz,
  read_to timestamptz,
  gap_at timestamptz,
  failures int not null default 0,
  failure text,
  said text,
  connected_at timestamptz,
  message_at timestamptz,
  accepted_at timestamptz,
  refused jsonb,
  due_at timestamptz not null default now(),
  fence int not null default 0
);
comment on table streams is 'Partners'' event streams, by a digest of address, key and chain: where to resume, and the lease of the one node that reads. Also destinations that report who unsubscribed (destination:NAME). Everything until read_to is stored. refused: messages that could not be read, and where to resume once the connector is corrected.';

create table events (
  integration text not null,
  seq bigint not null default nextval('intake_seq'),
  endpoint_id text not null,
  event_id text not null,
  event text not null,
  occurred_at timestamptz not null,
  received_at timestamptz not null,
  body bytea,
  body_hash bytea not null,
  state text not null default 'pending',
  outcome text,
  reason text,
  type text,
  id text,
  version int,
  due_at timestamptz,
  attempt int not null default 0,
  hydrated bytea,
  hydrated_at timestamptz,
  trace text,
  primary key (integration, seq),
  check (state in ('pending', 'hydrate', 'waiting', 'done', 'dead'))
);
create unique index events_once on events (endpoint_id, event_id);
create index events_pending on events (integration, seq) where (state = 'pending');
create index events_by_time on events (received_at);
create index events_waiting on events (due_at) where state in ('hydrate', 'waiting');
create index events_thin on events (integration, id) where (state = 'hydrate');
create index events_without_news on events (integration, id) where outcome in ('unchanged', 'superseded');
comment on table events is 'Webhooks accepted: durable before the answer, taken once per event id.';
comment on column events.hydrated is 'The reservation as the partner''s API gave it, for an event that only named it.';
comment on column events.trace is 'W3C traceparent of the span that accepted the event; null without tracing.';

create table rejections (
  integration text not null,
  endpoint_id text not null,
  code text not null,
  reason text not null,
  hour timestamptz not null,
  count bigint not null,
  newest jsonb not null,
  primary key (integration, hour, endpoint_id, code, reason)
);
comment on table rejections is 'How many webhooks were refused in each hour, by reason, and the last of them with the names of their headers, nothing of the payload. Requests at unknown addresses have the integration ''''.';

create table sandbox_reports (
  integration text not null,
  report_id text not null,
  endpoint_id text not null,
  at timestamptz not null default now(),
  report jsonb not null,
  primary key (integration, report_id)
);
create index sandbox_reports_by_endpoint on sandbox_reports (endpoint_id, at desc);
comment on table sandbox_reports is 'What a sandbox endpoint answered, for the partner''s developer. May hold what the developer sent.';

-- Records and their history

create table records (
  integration text not null,
  type text not null check (type in ('reservation', 'guest')),
  id text not null,
  version int not null,
  event text not null default 'created',
  effective_at timestamptz not null,
  seq bigint not null,
  data json not null,
  claims json,
  held text[],
  keys tsvector not null default '',
  trace text,
  partner_id text,
  arrival date,
  listed double precision,
  unlisted jsonb,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  primary key (integration, id, type)
) with (fillfactor = 85);
create index records_by_key on records using gin (keys) with (fastupdate = off);
create unique index records_by_partner_id on records (integration, partner_id) where partner_id is not null;
create index records_by_arrival on records (integration, arrival) where arrival is not null;
create index records_held on records (integration) where held is not null;
create index records_unlisted on records (integration, id) where unlisted is not null;
comment on table records is 'The newest version of each reservation and guest. A poll that brings nothing new writes nothing here.';
comment on column records.event is 'What made the version: created, updated, cancelled, erased or removed.';
comment on column records.claims is 'What each source (pull, single, push, destination:NAME) said, each of its different messages with its time, before business rules; a claim that is the record itself has only its time and the fields it said to be empty, an older one what differs from the next. Null: pull said all of it once.';
comment on column records.held is 'The holds that keep values of the record back; the values are in the quarantine of claims. A row with version 0 has nothing else.';
comment on column records.keys is 'By what it is found: the guests'' ids, e-mails, phones and names, the confirmation number (records/search-keys.ts).';
comment on column records.trace is 'W3C traceparent of the span that made the version, which its deliveries continue; null without tracing.';
comment on column records.partner_id is 'Of a reservation from before the brand moved to another system: its id there, with the prefix of that system.';
comment on column records.listed is 'Hash of the row of the partner''s list that the record agrees with, and of the documents and the program that mapped it: the same row again is known to change nothing, without being read. Negative: listed, but the next row is read. Null: never listed.';
comment on column records.unlisted is 'Set while complete runs no longer find it in a list that should show it: since when, in which sync and run; and what the partner answered when it was asked for it by its id.';

create table history (
  integration text not null,
  type text not null,
  id text not null,
  entry_id bigint not null default nextval('history_entries'),
  at timestamptz not null default now(),
  effective_at timestamptz not null,
  seq bigint not null,
  cause text not null check (cause in ('run', 'event', 'replay', 'guest', 'erasure', 'reprocess')),
  cause_id text not null,
  outcome text not null check (outcome in ('created', 'updated', 'cancelled', 'erased', 'removed', 'unchanged', 'superseded', 'dropped', 'dead', 'held')),
  version int,
  diff json,
  idempotency_key text,
  trace text,
  reason text,
  connector_version int,
  integration_version int,
  raw json,
  notes json not null default '[]',
  origins json
) partition by range (at);
create index history_of_record on history (integration, id, type, entry_id);
create index history_by_time on history (at);
create index history_raw on history (at) where raw is not null;
create index history_dropped on history (at) where outcome in ('dropped', 'held');
create index history_feed on history (entry_id) where diff is not null;
create index history_of_erasures on history (cause_id) where cause = 'erasure';
create table history_kept partition of history default;
comment on table history is 'What came in for a record and what became of it. An entry that made a version has its difference to the one before: earlier versions are read from the newest by undoing them. Partitioned by time; retention drops partitions.';
comment on column history.raw is 'What a poll brought, with those parts of the response that its mapping read, until its retention ends. The payload of an event is in events.';
comment on column history.notes is 'What each step did to it, as [code, field, before, after, reason] without what the code tells (canonical/notes.ts).';
comment on column history.origins is 'From which raw path each field came; null where raw alone tells it again.';

create table sightings (
  integration text not null,
  requested_at timestamptz not null,
  run_id text not null,
  ids text[] not null
);
create index sightings_by_time on sightings (integration, requested_at);
comment on table sightings is 'Reservations that a pulled page showed unchanged. An event older than a sighting is superseded by it, without a write to the reservation at each poll.';

create table guards (
  integration text not null,
  feed text not null,
  normal jsonb not null,
  primary key (integration, feed),
  check (feed in ('pull', 'push'))
);
comment on table guards is 'What is normal in a feed of a brand, and its holds: accidents of the partner that are kept from the records. Bounded, without guest data; the held values are set aside in the records.';

create table drift (
  integration text not null,
  field text not null,
  value text not null,
  times bigint not null default 1,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  primary key (integration, field, value)
);
comment on table drift is 'Values of the partner that no value map knows: they passed as they are, somebody should look.';

create table stays (
  integration text not null,
  id text not null,
  version int not null,
  from_at timestamptz,
  until_at timestamptz,
  data json not null,
  primary key (integration, id, version)
);
comment on table stays is 'What the figures of a hotel need besides the newest reservations, without guests: earlier versions, and as version 0 the newest state of reservations that a rule drops.';
comment on column stays.until_at is 'When the next version took its place, by the time of the partner, as from_at. Null for version 0. from_at is null if the history does not reach back to it.';

create table hotels (
  integration text primary key,
  budgets jsonb not null default '{}',
  day date,
  changes bigint,
  report jsonb,
  asked datemultirange,
  counted_at timestamptz
);
comment on table hotels is 'What the page of a hotel shows besides its records: its budgets, and the report that was last counted from the records. Counts and amounts only.';
comment on column hotels.budgets is 'The room revenue that it means to earn, by month, in its reporting currency: {"2026-11": 90000}.';
comment on column hotels.report is 'Null before the first count. Counted for the day in its time zone, when the changes of activity, ever, were this.';
comment on column hotels.asked is 'The nights that complete runs have ever asked the partner for. The bookings of other nights are not known.';

-- Persons

create table profile_bookings (
  integration text not null,
  reservation_id text not null,
  profile_id text not null,
  primary key (integration, reservation_id, profile_id)
);
create index profile_bookings_of_profile on profile_bookings (integration, profile_id);
comment on table profile_bookings is 'Which profiles are the guests of a reservation.';

create table profile_pairs (
  integration text not null,
  one text not null,
  other text not null,
  evidence text not null,
  found_at timestamptz not null default now(),
  different_since timestamptz,
  primary key (integration, one, other),
  check (one < other),
  check (evidence in ('shared_address', 'other_last_name'))
);
create index profile_pairs_open on profile_pairs (integration, found_at desc) where (different_since is null);
comment on table profile_pairs is 'Profiles that may be the same person, for an operator to merge or to keep apart.';

create table profile_pins (
  integration text not null,
  key text not null,
  profile_id text not null,
  merged_from text,
  primary key (integration, key)
);
create index profile_pins_of_profile on profile_pins (integration, profile_id);
comment on table profile_pins is 'Keys that an operator gave to a profile, by merging two profiles or splitting one. merged_from is the profile that a merge took the key from. An erasure removes the keys of the person.';

create table erasures (
  erasure_id text primary key,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  completed_at timestamptz,
  subject text not null,
  receipt jsonb,
  confirmed_at timestamptz,
  progress jsonb,
  seen_at timestamptz not null default now(),
  stopped_by text,
  stopped_at timestamptz,
  integration text
);
comment on table erasures is 'Proof of each erasure: when, by whom, how much was removed where. The subject is a keyed hash, so the receipt does not hold what was erased.';
comment on column erasures.confirmed_at is 'When the last destination had confirmed it; the receipt says it of each. Kept here, since the tries themselves are forgotten in time.';
comment on column erasures.seen_at is 'Renewed every second while the erasure runs: one that ended without a result shows here.';
comment on column erasures.integration is 'The only brand that it holds for: it came with the brand from another installation. Null: all brands.';
comment on column erasures.stopped_by is 'Who asked to stop it. stopped_at is set when it did stop; one that was finished first stays finished.';

create table erased_guests (
  hash bytea not null,
  erasure_id text not null,
  erased_at timestamptz not null default now(),
  primary key (hash, erasure_id),
  foreign key (erasure_id) references erasures(erasure_id)
);
comment on table erased_guests is 'Keyed hashes of what erased guests were known by: what comes in again under one of them loses the guest before it is stored.';

create table erased_identifiers (
  integration text not null,
  type text not null,
  id text not null,
  version int not null,
  sealed bytea not null,
  at timestamptz not null default now(),
  primary key (integration, id, type, version)
);
comment on table erased_identifiers is 'Of an erasure: what the guests were known by, sealed, for destinations that find them by it. Deleted when these have confirmed it, or have not for too long.';

-- Pull

create table syncs (
  integration text not null,
  sync text not null,
  every_ms int,
  phase_ms int,
  next_at timestamptz,
  skipped int not null default 0,
  read_at timestamptz,
  feed bigint,
  primary key (integration, sync),
  check (sync in ('pre_stay', 'stay', 'post_stay'))
) with (fillfactor=80);
create index syncs_due on syncs (next_at) where (next_at is not null);
comment on table syncs is 'When each sync of a brand starts next, and for lists by modification time, from when the next run reads. Without next_at it is not scheduled.';
comment on column syncs.phase_ms is 'Spreads the starts: a sync starts at multiples of every_ms, shifted by it.';
comment on column syncs.skipped is 'Starts that found the run before still going.';
comment on column syncs.read_at is 'When the last complete run began. Only a complete run moves it.';
comment on column syncs.feed is 'A hash of the address and the brand that this run read.';

create table runs (
  integration text not null,
  run_id text not null,
  sync text not null,
  kind text not null,
  state text not null,
  from_date date,
  to_date date,
  requested_by text not null,
  queued_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  due_at timestamptz,
  fence bigint not null default 0,
  node text,
  waiting text,
  position jsonb,
  connector_version int,
  integration_version int,
  pages int not null default 0,
  requests int not null default 0,
  retries int not null default 0,
  waited_ms bigint not null default 0,
  bytes bigint not null default 0,
  rows int not null default 0,
  fetched int not null default 0,
  changed int not null default 0,
  unchanged int not null default 0,
  superseded int not null default 0,
  dropped int not null default 0,
  skipped int not null default 0,
  dead int not null default 0,
  error_code text,
  error_message text,
  findings jsonb not null default '[]',
  partner_text text,
  last_request jsonb,
  repeated int not null default 0,
  held int not null default 0,
  primary key (integration, run_id),
  check (kind in ('scheduled', 'manual', 'backfill')),
  check (state in ('queued', 'running', 'complete', 'incomplete', 'failed')),
  check (sync in ('pre_stay', 'stay', 'post_stay', 'backfill'))
) with (fillfactor=70);
create unique index runs_one_at_a_time on runs (integration, sync) where state in ('queued', 'running');
create index runs_due on runs (due_at) where (due_at is not null);
create index runs_recent on runs (queued_at desc);
create index runs_of_sync on runs (integration, sync, queued_at desc);
create index runs_failed on runs (queued_at) where state in ('incomplete', 'failed');
create index runs_finished on runs (finished_at) where (fetched > 0);
create index runs_partner_text on runs (finished_at) where (partner_text is not null);
-- The planner would otherwise guess few brands from a sample of recent runs.
alter table runs alter column integration set (n_distinct = 1000);
comment on table runs is 'Each execution of a sync or backfill. due_at is when a node may claim it: at once while queued, when the lease ends while running, later while it waits for the partner; null when it is over.';
comment on column runs.last_request is 'The last request of the run as sent, without credentials, and the beginning of its answer without values.';
comment on column runs.partner_text is 'What the partner said about the error that ended the run. Read through the audited view only; emptied with raw payloads and by erasure.';
comment on column runs.repeated is 'Rows that had the id of a later row of the same page, which counts. Not for flat rows, which share their id by design.';

create table run_pages (
  integration text not null,
  run_id text not null,
  page_no int not null,
  window_from date not null,
  window_to date not null,
  pass int not null,
  requested_at timestamptz not null,
  duration_ms int not null,
  tries int not null,
  waited_ms int not null,
  bytes int not null,
  rows int not null,
  fresh int not null,
  changed int not null,
  mark double precision not null,
  fingerprint double precision not null,
  seen bytea,
  skipped text[],
  primary key (integration, run_id, page_no)
);
comment on table run_pages is 'What each page of a run was asked, answered and brought. mark and fingerprint show pages that come again; seen holds the hashes of its rows until the run ends, skipped the ids of up to 100 rows that are not for the run.';

create table staged_rows (
  integration text not null,
  run_id text not null,
  key text not null,
  row_hash bytea not null,
  row_no bigint not null,
  requested_at timestamptz not null,
  row json not null,
  primary key (integration, run_id, key, row_hash)
);
comment on table staged_rows is 'Rows of flat lists, gathered until the run has them all and reservations can be put together.';

create table remotes (
  kind text not null,
  name text not null,
  state text not null default 'closed',
  failures int not null default 0,
  away boolean not null default false,
  refused boolean not null default false,
  suspect text,
  last_failure text,
  opened_at timestamptz,
  probes int not null default 0,
  probe_at timestamptz,
  next_at timestamptz,
  paused_until timestamptz,
  told_to_wait text,
  delivered_at timestamptz,
  primary key (kind, name),
  check (kind in ('partner', 'destination')),
  check (state in ('closed', 'open', 'probing'))
);
comment on table remotes is 'Partners'' APIs (by origin) and destinations (by name): the circuit, the rate and the pause that all nodes share (src/core/outbound). A partner that never failed, was never limited and never asked to wait has no row.';
comment on column remotes.failures is 'Failed calls since the last answer, over all nodes. Zero: the circuit is closed and the columns about it mean nothing.';
comment on column remotes.away is 'Several records failed, or nobody could be reached: it is the remote, not the record.';
comment on column remotes.refused is 'What failed is that our credentials are refused.';
comment on column remotes.suspect is 'The record that failed first.';
comment on column remotes.probe_at is 'When one node may send the next probe; while probing, when another may take over. Null while the circuit is closed.';
comment on column remotes.next_at is 'When the calls that the rate has granted would end at an even pace.';
comment on column remotes.told_to_wait is 'The record that was told to wait (429) since the destination last took anything. A second one means that the destination is busy.';

create table partner_accounts (
  integration text primary key,
  paused_at timestamptz,
  paused_by text,
  pause_reason text,
  retry_at timestamptz,
  auth_failed_at timestamptz,
  auth_failed_version int,
  auth_message text,
  identity text,
  generation bigint not null default 0,
  access bytea,
  refresh bytea,
  expires_at timestamptz,
  renewing_since timestamptz,
  lost text
);
comment on table partner_accounts is 'Each brand''s account at its partner, what outlives a run: pulls paused by an operator (apart from the documents, so that applying them does not undo it), not before retry_at (429), credentials refused, and OAuth tokens, sealed.';
comment on column partner_accounts.identity is 'Which client and address the tokens belong to.';
comment on column partner_accounts.renewing_since is 'Set before a refresh is sent, so that a crash in between is seen.';

-- Delivery

create table outbox (
  integration text not null,
  destination text not null,
  type text not null,
  id text not null,
  next_version int not null,
  last_version int not null,
  delivered_version int not null default 0,
  delivered_at timestamptz,
  due_at timestamptz,
  attempt int not null default 0,
  fence bigint not null default 0,
  leased boolean not null default false,
  held_by bigint,
  removed boolean not null default false,
  leaving boolean not null default false,
  primary key (integration, id, type, destination)
) with (fillfactor=70);
create index outbox_due on outbox (integration, destination, due_at) where (due_at is not null);
comment on table outbox is 'One row per destination and record: versions next_version to last_version wait. due_at is when to try next, or when a lease ends; null when nothing waits or a dead letter holds the record back.';
comment on column outbox.removed is 'The last version that was delivered said that the record has left the destination.';
comment on column outbox.leaving is 'The brand no longer delivers to the destination: what waits says that the record has left.';

create table attempts (
  integration text not null,
  destination text not null,
  type text not null,
  id text not null,
  version int not null,
  attempt int not null,
  at timestamptz not null default now(),
  outcome text not null,
  code text,
  status int,
  message text,
  duration_ms int,
  node text,
  check (outcome in ('delivered', 'skipped', 'retry', 'dead'))
);
create index attempts_by_record on attempts (integration, id, type, at);
create index attempts_by_time on attempts using brin (at);
comment on table attempts is 'Tries to deliver a version that are worth reporting: failures, skipped versions, removals, erasures, and the success after a failure. A plain delivery is only on its outbox row.';

create table dead_letters (
  integration text not null,
  dead_letter_id bigint generated always as identity,
  kind text not null,
  fingerprint text not null,
  type text,
  id text,
  destination text,
  version int,
  code text not null,
  message text not null,
  detail jsonb not null default '{}',
  raw jsonb,
  cause text,
  cause_id text,
  connector_version int,
  integration_version int,
  times int not null default 1,
  at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  state text not null default 'open',
  closed_at timestamptz,
  closed_by text,
  closed_reason text,
  primary key (integration, dead_letter_id),
  check (kind in ('event', 'record', 'delivery')),
  check (state in ('open', 'replayed', 'dropped'))
);
create unique index dead_letters_open on dead_letters (integration, kind, fingerprint) where (state = 'open');
create index dead_letters_by_record on dead_letters (integration, type, id);
create index dead_letters_listed on dead_letters (integration, state, dead_letter_id);
create index dead_letters_by_time on dead_letters (closed_at) where (state <> 'open');
create index dead_letters_by_id on dead_letters (dead_letter_id);
comment on table dead_letters is 'What failed for good, whole, with its reason. The same record failing again at the next poll counts up, it does not pile up.';

create table comparisons (
  destination text not null,
  integration text not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  part text,
  complete boolean not null,
  reason text,
  counts jsonb not null,
  differences jsonb not null,
  primary key (destination, integration)
);
comment on table comparisons is 'The last audit of what each destination holds of each brand: counts, and the first differences by id and path, without values.';
comment on column comparisons.part is 'What was compared, if not all: the changes since a time, or a sample.';
comment on column comparisons.reason is 'Why it is not complete.';

create unlogged table held_rows (
  destination text not null,
  integration text not null,
  type text not null,
  id text not null,
  epoch int not null,
  version int not null,
  removed boolean not null,
  digest text not null,
  file text not null,
  place int not null,
  primary key (destination, integration, type, id)
);
comment on table held_rows is 'What an audit found in the files of a destination: the newest version of each record, as a hash and where it is. A row of type file says which state of a file was read. Lost after a crash, and then read again.';

-- Operation

create table alerts (
  alert_id text primary key,
  kind text not null,
  integration text not null default '',
  subject text not null default '',
  severity text not null,
  message text not null,
  detail jsonb not null default '{}',
  raised_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  acknowledged_at timestamptz,
  acknowledged_by text,
  resolved_at timestamptz,
  cause text,
  incident_id text,
  brands text[],
  check (severity in ('warning', 'critical'))
);
create unique index alerts_open on alerts (kind, integration, subject) where (resolved_at is null);
create index alerts_by_time on alerts (raised_at desc);
create index alerts_by_incident on alerts (incident_id);
create index alerts_by_cause on alerts (cause, raised_at);
comment on table alerts is 'What somebody should look at. One open alert per kind, brand and subject; it resolves when its cause is gone.';
comment on column alerts.incident_id is 'Alerts of one cause are one incident: from the first that was raised until the last is resolved, and on if the cause returns soon.';
comment on column alerts.brands is 'All brands of an alert that many brands share; its detail names only some. Null for other alerts.';

create table alert_sends (
  route text not null,
  alert_id text not null,
  sent text not null default 'nothing',
  due_at timestamptz,
  leased boolean not null default false,
  fence bigint not null default 0,
  attempt int not null default 0,
  failure text,
  sent_at timestamptz,
  primary key (route, alert_id),
  foreign key (alert_id) references alerts(alert_id) on delete cascade,
  check (sent in ('nothing', 'raised', 'resolved'))
);
create index alert_sends_due on alert_sends (due_at) where (due_at is not null);
create index alert_sends_by_alert on alert_sends (alert_id);
comment on table alert_sends is 'One row per route and alert: what the route knows of it, and when to try next, or when a lease ends. Written in the transaction that raises or resolves the alert.';

create table jobs (
  job_id text primary key,
  operation text not null,
  integrations text[],
  request jsonb not null,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  state text not null default 'queued',
  total int not null,
  done int not null default 0,
  counts jsonb not null default '{}',
  position jsonb,
  stepped_at timestamptz,
  due_at timestamptz default now(),
  fence int not null default 0,
  failures int not null default 0,
  finished_at timestamptz,
  stopped_by text,
  code text,
  message text,
  halvings int not null default 0,
  refusals jsonb not null default '[]',
  check (operation in ('replay', 'resend', 'reprocess', 'audit')),
  check (state in ('queued', 'running', 'done', 'stopped', 'failed'))
);
create index jobs_due on jobs (due_at) where (due_at is not null);
comment on table jobs is 'Operations on many records that an operator started. Any worker does the next step and stores how far it has come. Requests hold ids and names; no guest data.';
comment on column jobs.refusals is 'The first records that it did not process, with the reason.';
comment on column jobs.halvings is 'How often the steps were halved because one took too long. A quick step takes one back.';

create table activity (
  integration text not null,
  step text not null,
  at timestamptz not null,
  events bigint not null default 0,
  pulls int not null default 0,
  changes bigint not null default 0,
  delivered bigint not null default 0,
  retried bigint not null default 0,
  dead bigint not null default 0,
  latency int[],
  waiting int not null default 0,
  rows int not null default 0,
  run_ms bigint not null default 0,
  dead_rows int not null default 0,
  dead_events int not null default 0,
  quality jsonb,
  primary key (integration, step, at),
  check (step in ('10s', '1h', '1d', 'ever'))
);
create index activity_by_time on activity (step, at);
comment on table activity is 'What happened to each brand in each ten seconds (hours) of the last hours (weeks), counted once for charts, live rates and the habit that silence is judged by; ever, for metrics that are the same on every node; and how complete the reservations of each day (UTC) were. Nothing happened: no row. pulls counts runs that found records, rows, run_ms and dead_rows are theirs; latency is a histogram from a change to its delivery (kit/histogram.ts). Nodes add what they delivered; the rest is counted from the tables.';
comment on column activity.quality is 'Of a day, which has nothing else: how many reservations were sent or changed, and how many of them had each field. Ever: the bookings stored now and those with an e-mail address, counted when the changes were these.';

create table marks (
  name text primary key,
  at timestamptz not null
);
comment on table marks is 'When something was last done, on whichever node: up to where a counting task has come, when a task was last claimed, which sign-in was used.';

create table audit (
  audit_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  actor text not null,
  token_id text,
  action text not null,
  integration text,
  target jsonb not null default '{}',
  status int,
  request_id text,
  address text
);
create index audit_by_time on audit (at);
create index audit_by_integration on audit (integration, audit_id) where (integration is not null);
comment on table audit is 'Who did what, and who looked at payloads. Targets are ids and names; no guest data.';

create table tokens (
  token_id text primary key,
  kind text not null,
  hash bytea not null,
  name text not null,
  role text not null,
  integrations text[],
  parent text,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  subject text,
  unique (hash),
  foreign key (parent) references tokens(token_id) on delete cascade,
  check (kind in ('api', 'sign_in', 'session')),
  check (role in ('feed', 'viewer', 'operator', 'admin'))
);
create index tokens_by_parent on tokens (parent) where (parent is not null);
create index tokens_by_subject on tokens (subject) where (subject is not null);
comment on table tokens is 'Who may call the API: tokens, one-time sign-in links and the sessions made from either. Only hashes; 256 random bits need no salt. integrations null means every brand.';

create table onboarding_links (
  integration text not null,
  link_id text not null,
  hash bytea not null,
  browsers bytea[] not null default '{}',
  many_browsers boolean not null default false,
  partner text not null,
  language text not null,
  asks text[] not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  ready_at timestamptz,
  live_at timestamptz,
  secret_at timestamptz,
  connector_version int not null default 0,
  push_facts jsonb,
  pull_facts jsonb,
  comments jsonb not null default '[]',
  primary key (integration, link_id),
  unique (link_id),
  unique (hash)
);
comment on table onboarding_links is 'Links with which a partner connects one brand. Only hashes of the link and of the browsers that opened it. The facts are counts, ids and dates of what arrived, no guest data; the comments are those of partner and operator.';
comment on column onboarding_links.connector_version is 'The connector''s version when the link was made, so that an operator sees what the partner''s answers changed.';

create table nodes (
  node text primary key,
  role text not null,
  url text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  clock_ahead_ms bigint,
  stalled text[] not null default '{}',
  keys text[] not null default '{}',
  version text,
  broken jsonb not null default '[]'
);
comment on table nodes is 'The running nodes, each renewing its row; one that was killed is forgotten after a minute.';
comment on column nodes.clock_ahead_ms is 'How far the node''s clock is ahead of the database''s, as of its last heartbeat; negative when it is behind.';
comment on column nodes.broken is 'The documents that it could not take up when it started, and why: what was in force stayed.';
comment on column nodes.version is 'The version that the node runs, for operators during an upgrade.';

create table store_state (
  single boolean primary key default true,
  epoch int not null default 1,
  beat bigint not null default 0,
  check (single)
);
comment on table store_state is 'One row: the epoch, which rises after the restore of an older backup, and the beat by which a restore is noticed.';
insert into store_state default values;

-- Rules that the database enforces

create function spread(total numeric, i bigint, n bigint, units int) returns numeric language sql immutable
  return case when i = n then total else div(floor(total * units) * i, n) * case units when 1 then 1 when 1000 then 0.001 else 0.01 end end
         - case when i = 1 then 0 else div(floor(total * units) * (i - 1), n) * case units when 1 then 1 when 1000 then 0.001 else 0.01 end end;
comment on function spread is 'The same as in the warehouse, whose measures are counted here too (measures/hotel-sql.ts).';

create function require_held_run(moved_rows bigint) returns void language plpgsql immutable as $$
begin
  if moved_rows <> 1 then
    raise exception 'the run is held by another node, or has moved on' using errcode = 'IB001';
  end if;
end $$;

create function refuse_retired_key() returns trigger language plpgsql as $$
declare
  col text;
  retired boolean;
begin
  foreach col in array tg_argv loop
    execute format('select exists (select from %I.replaced_keys where key_id = $1 and retired_at is not null)', tg_table_schema)
       into retired using substr(to_jsonb(new) ->> col, 5, 16);
    if retired then
      raise exception 'the value is sealed with the key %, which was replaced: restart this process with the new key',
        substr(to_jsonb(new) ->> col, 5, 16) using errcode = 'IB002';
    end if;
  end loop;
  return new;
end $$;
create trigger refuse_retired_key before insert or update of sealed on secrets for each row execute function refuse_retired_key('sealed');
create trigger refuse_retired_key before insert or update of sealed on endpoint_secrets for each row execute function refuse_retired_key('sealed');
create trigger refuse_retired_key before insert or update of access, refresh on partner_accounts for each row execute function refuse_retired_key('access', 'refresh');
create trigger refuse_retired_key before insert or update of sealed on erased_identifiers for each row execute function refuse_retired_key('sealed');
