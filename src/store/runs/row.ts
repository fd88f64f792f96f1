import type { ErrorCode } from '../../errors.ts';
import type { Lease } from '../../intake/pull/ports.ts';
import type { Counters, Position, Run } from '../../intake/pull/run/run-state.ts';
import type { WaitReason } from '../../outbound/ask/ports.ts';
import type { Tally } from '../../reconcile/forms.ts';
import type { IntegrationName, RunId, SyncType } from '../../terms.ts';
import type { Held, LeasedTable } from '../lease.ts';

/** A row of the table `runs`. Each counter has its own column, so that lists and metrics need not parse JSON. */
export interface RunRow {
  readonly integration: IntegrationName;
  readonly run_id: RunId;
  readonly sync: SyncType | 'backfill';
  readonly kind: Run['kind'];
  readonly state: Run['state'];
  readonly from_date: string | null;
  readonly to_date: string | null;
  readonly fence: number;
  readonly position: Position | null;
  readonly connector_version: number | null;
  readonly integration_version: number | null;
  readonly waiting: WaitReason | null;
  readonly error_code: ErrorCode | null;
  readonly error_message: string | null;
}

export const runTable: LeasedTable = { name: 'runs', key: ['integration', 'run_id'], held: `state = 'running'` };

export const heldRun = ({ integration, runId, fence }: Lease): Held => [integration, runId, fence];

export const counterColumns = {
  pages: 'pages',
  requests: 'requests',
  retries: 'retries',
  waitedMs: 'waited_ms',
  bytes: 'bytes',
  rows: 'rows',
  fetched: 'fetched',
  changed: 'changed',
  unchanged: 'unchanged',
  superseded: 'superseded',
  dropped: 'dropped',
  skipped: 'skipped',
  repeated: 'repeated',
  dead: 'dead',
  held: 'held',
} as const satisfies Record<keyof Counters, string>;

const counterNames = Object.keys(counterColumns) as (keyof Counters)[];

export const runColumns = `integration, run_id, sync, kind, state, from_date, to_date, fence, position, connector_version,
  integration_version, waiting, error_code, error_message, ${Object.values(counterColumns).join(', ')}`;

/** `set` clauses that add to the counters; their values start at the given parameter number. */
export function addCounters(counted: Partial<Counters>, firstParameter: number): { sql: string; values: number[] } {
  const sql = counterNames.map(
    (name, i) => `${counterColumns[name]} = ${counterColumns[name]} + $${firstParameter + i}`,
  );
  return { sql: sql.join(', '), values: counterNames.map((name) => counted[name] ?? 0) };
}

export function withTally(counted: Counters, { changed, unchanged, superseded, dropped, dead, held }: Tally): Counters {
  return { ...counted, changed, unchanged, superseded, dropped, dead, held };
}

export function countersOf(row: Partial<RunRow>): Counters {
  const cells = row as unknown as Record<string, number>;
  return Object.fromEntries(counterNames.map((name) => [name, cells[counterColumns[name]] ?? 0])) as Record<
    keyof Counters,
    number
  >;
}

export function runOf(row: RunRow): Run {
  return {
    integration: row.integration,
    runId: row.run_id,
    sync: row.sync === 'backfill' ? undefined : row.sync,
    kind: row.kind,
    state: row.state,
    fence: row.fence,
    counters: countersOf(row),
    ...(row.from_date !== null && { from: row.from_date }),
    ...(row.to_date !== null && { to: row.to_date }),
    ...(row.position !== null && { position: row.position }),
    ...(row.connector_version !== null && { connectorVersion: row.connector_version }),
    ...(row.integration_version !== null && { integrationVersion: row.integration_version }),
  };
}

export function added(a: Counters, b: Counters): Counters {
  const names = Object.keys(a) as (keyof Counters)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as Record<keyof Counters, number>;
}
