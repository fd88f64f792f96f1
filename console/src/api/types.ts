/** What the API answers, as docs/reference/api tells it; only what the console reads. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Role = 'viewer' | 'operator' | 'admin';
export interface Session {
  name: string;
  role: Role;
  integrations: string[] | null;
}
export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}
export type IntegrationState = 'healthy' | 'attention' | 'failing' | 'auth_failed' | 'paused';
export type SyncType = 'pre_stay' | 'stay' | 'post_stay';

export interface Point {
  at: string;
  events: number;
  pulls: number;
  changes: number;
  delivered: number;
  retried: number;
  dead: number;
  latency_p50_ms: number | null;
  latency_p95_ms: number | null;
  waiting: number;
}
export interface Overview {
  now: string;
  step_ms: number;
  series: Point[];
  totals: {
    integrations: number;
    waiting: number;
    held: number;
    open_dead_letters: number;
    open_alerts: number;
    running: number;
  };
  states: Record<IntegrationState, number>;
  health: { integration: string; state: IntegrationState; reasons: string[] }[];
  nodes: { node: string; role: string; url: string; started_at: string }[];
  broken: { document: string; message: string }[];
}
export interface Lane {
  destination: string;
  waiting: number;
  held: number;
  late_ms: number | null;
}
export interface Integration {
  name: string;
  version: number;
  brand_id: string;
  connector: string;
  connector_version: number;
  timezone: string;
  country: string | null;
  state: IntegrationState;
  reasons: string[];
  pull: { syncs: { sync: SyncType; every: string; next_at: string | null; skipped: number }[] } | null;
  push: { enabled: boolean; last_event_at: string | null };
  last_run_at: string | null;
  last_run_status: string | null;
  running: number;
  open_dead_letters: number;
  open_alerts: number;
  lanes: Lane[];
  sparkline: { at: string; changes: number; events: number }[];
}
export interface IntegrationDetail extends Integration {
  drift: { field: string; value: string; times: number; first_at: string; last_at: string }[];
}
export interface Run {
  run_id: string;
  integration: string;
  sync: SyncType | 'backfill';
  kind: 'scheduled' | 'manual' | 'backfill';
  status: 'queued' | 'running' | 'complete' | 'incomplete' | 'failed';
  waiting: string | null;
  from: string | null;
  to: string | null;
  requested_by: string;
  queued_at: string;
  started_at: string | null;
  finished_at: string | null;
  node: string | null;
  pages: number;
  requests: number;
  retries: number;
  waited_ms: number;
  bytes: number;
  rows: number;
  fetched: number;
  changed: number;
  unchanged: number;
  superseded: number;
  dropped: number;
  skipped: number;
  dead_lettered: number;
  error_code: string | null;
  error_message: string | null;
}
export interface RunDetail extends Run {
  connector_version: number | null;
  integration_version: number | null;
  findings: { code: string; message: string }[];
  windows: {
    from: string;
    to: string;
    passes: number;
    pages: number;
    requests: number;
    waited_ms: number;
    rows: number;
    fresh: number;
    changed: number;
    bytes: number;
    longest_ms: number;
    asked_at: string;
  }[];
}
export interface Guest {
  first_name?: string;
  last_name?: string;
  email?: string;
  phone?: string;
  guest_id?: string;
}
export interface Reservation {
  id: string;
  confirmation_number?: string;
  check_in?: string;
  check_out?: string;
  status?: string;
  channel?: string;
  total_amount?: number | string;
  currency?: string;
  guests?: Guest[];
}
export interface Found {
  integration: string;
  type: 'reservation' | 'guest';
  id: string;
  version: number;
  changed_at: string;
  data: Reservation & Guest;
  matched: string;
  undelivered: number;
  open_dead_letters: number;
}
export interface Note {
  step: 'shape' | 'normalize' | 'transform' | 'reconcile';
  field: string;
  code: string;
  reason: string;
  before?: Json;
  after?: Json;
}
export interface Difference {
  path: string;
  before?: Json;
  after?: Json;
}
export interface DeliveryNow {
  destination: string;
  delivered_version: number;
  next_version: number;
  last_version: number;
  attempt: number;
  due_at: string | null;
  held_by: string | null;
}
export type Entry =
  | {
      what: 'received';
      at: string;
      outcome: string;
      version?: number;
      reason?: string;
      effective_at?: string;
      cause: string;
      cause_id?: string;
      connector_version?: number;
      integration_version?: number;
      notes?: Note[];
      origins?: Record<string, string>;
      raw?: Json;
      diff?: Difference[];
      idempotency_key?: string;
    }
  | {
      what: 'delivery';
      at: string;
      destination: string;
      version: number;
      attempt: number;
      outcome: string;
      code?: string;
      status?: number;
      message?: string;
      duration_ms?: number;
    }
  | {
      what: 'dead_letter';
      at: string;
      dead_letter_id: string;
      kind: string;
      destination?: string;
      version?: number;
      code: string;
      message: string;
      times: number;
      state: string;
      closed_at?: string;
      closed_reason?: string;
    }
  | { what: 'seen_unchanged'; at: string; times: number };
export interface Timeline {
  integration: string;
  type: 'reservation' | 'guest';
  id: string;
  version: number;
  changed_at: string;
  data: (Reservation & Guest) | null;
  deliveries: DeliveryNow[];
  timeline: Entry[];
}
export interface DeadLetter {
  id: string;
  kind: 'event' | 'record' | 'delivery';
  integration: string;
  type: 'reservation' | 'guest' | null;
  record_id: string | null;
  destination: string | null;
  version: number | null;
  code: string;
  message: string;
  times: number;
  at: string;
  last_at: string;
  state: 'open' | 'replayed' | 'dropped';
}
export interface WholeDeadLetter extends DeadLetter {
  detail: Json;
  raw: Json;
  cause: string | null;
  cause_id: string | null;
  connector_version: number | null;
  integration_version: number | null;
  closed_at: string | null;
  closed_by: string | null;
  closed_reason: string | null;
  data: Json;
  attempts: { at: string; attempt: number; outcome: string; code?: string; status?: number; message?: string }[];
  waiting_behind: number;
  event: Json;
  effective_at: string | null;
}
export type Preview =
  | { kind: 'ready'; record: { type: string; id: string }; before?: Json; after: Json; diff: Difference[] }
  | { kind: 'dropped'; reason: string }
  | { kind: 'still_failing'; code: string; message: string }
  | { kind: 'gone'; message: string };
export interface ReplayResult {
  id: string;
  result: 'replayed' | 'still_failing' | 'gone';
  code?: string;
  message?: string;
}
export interface Destination {
  name: string;
  type: string;
  version: number;
  receives: string[];
  paused: boolean;
  paused_until: string | null;
  last_delivered_at: string | null;
  last_failed_at: string | null;
  last_failure: string | null;
  lanes: { integration: string; waiting: number; held: number; late_ms: number | null }[];
}
export interface Delivery {
  integration: string;
  destination: string;
  type: 'reservation' | 'guest';
  id: string;
  next_version: number;
  last_version: number;
  delivered_version: number;
  attempt: number;
  due_at: string | null;
  held_by: string | null;
  last_code: string | null;
  last_message: string | null;
  last_at: string | null;
}
export interface Alert {
  alert_id: string;
  kind: string;
  integration: string;
  subject: string;
  severity: 'warning' | 'critical';
  message: string;
  raised_at: string;
  seen_at: string;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  resolved_at: string | null;
}
export interface Endpoint {
  endpoint_id: string;
  url: string;
  sandbox_url: string | null;
  issued_at: string;
  secrets: { secret_no: number; issued_at: string; expires_at: string | null }[];
  first_event_at: string | null;
  last_event_at: string | null;
}
export interface Issued {
  endpoint_id: string;
  url: string;
  sandbox_url: string;
  secret?: string;
}
export interface Rejections {
  items: { at: string; status: number; code: string; reason: string; request_id: string; address: string }[];
  last_day: { code: string; reason: string; count: number }[];
}
export interface EventRow {
  integration: string;
  seq: number;
  event_id: string;
  event: string;
  occurred_at: string;
  received_at: string;
  state: 'pending' | 'hydrate' | 'waiting' | 'done' | 'dead';
  outcome: string | null;
  type: string | null;
  id: string | null;
  version: number | null;
}
export interface Mistake {
  line: number;
  column: number;
  path: string;
  message: string;
  suggestion?: string;
}
export interface DocumentRow {
  kind: 'connector' | 'integration' | 'destination' | 'workspace';
  name: string;
  version: number;
  applied_at: string;
  applied_by: string;
}
export interface DocumentText extends DocumentRow {
  source: string;
  versions: DocumentRow[];
}
export interface Previewed {
  mistakes: Mistake[];
  problem?: { code: string; message: string };
  total: number;
  records: {
    kind: 'record' | 'dropped' | 'dead';
    id?: string;
    record?: Json;
    notes?: Note[];
    origins?: Record<string, string>;
    unmapped?: string[];
    code?: string;
    message?: string;
  }[];
}
export interface Receipt {
  erasure_id: string;
  requested_at: string;
  completed_at: string | null;
  requested_by: string;
  subject: string;
  removed: Record<string, number>;
  told: { integration: string; destination: string; records: number }[];
}
export interface TokenRow {
  token_id: string;
  kind: 'api' | 'sign_in' | 'session';
  name: string;
  role: Role;
  integrations: string[] | null;
  created_at: string;
  created_by: string;
  expires_at: string | null;
  last_used_at: string | null;
}
export interface AuditRow {
  audit_id: number;
  at: string;
  actor: string;
  action: string;
  integration: string | null;
  target: Record<string, Json>;
  status: number | null;
  request_id: string | null;
  address: string | null;
}
