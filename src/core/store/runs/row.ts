import type { Lease } from '../../intake/pull/ports.ts';
import type { Counters } from '../../intake/pull/run/run-state.ts';
import type { Summary } from '../../reconcile/forms.ts';
import type { Held, LeasedTable } from '../lease.ts';

export const runTable: LeasedTable = { name: 'runs', key: ['integration', 'run_id'], held: `state = 'running'` };

export const heldRun = ({ integration, runId, fence }: Lease): Held => [integration, runId, fence];

/** Each counter has its own column, so that lists and metrics need not parse JSON. */
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

export const noCounters = Object.fromEntries(counterNames.map((name) => [name, 0])) as Record<keyof Counters, number>;

/** SQL: all counters as one value. */
export const countersColumn = `json_build_object(${counterNames.map((name) => `'${name}', ${counterColumns[name]}`).join(', ')}) as counters`;

/** A Run, with nulls for what it lacks. */
export const runColumns = `integration, run_id as "runId", nullif(sync, 'backfill') as sync, kind, state, from_date as "from", to_date as "to",
  fence, position, connector_version as "connectorVersion", integration_version as "integrationVersion", ${countersColumn}`;

/** `set` clauses that add to the counters; their values start at the given parameter number. */
export function addCounters(counted: Partial<Counters>, firstParameter: number): { sql: string; values: number[] } {
  const sql = counterNames.map(
    (name, i) => `${counterColumns[name]} = ${counterColumns[name]} + $${firstParameter + i}`,
  );
  return { sql: sql.join(', '), values: counterNames.map((name) => counted[name] ?? 0) };
}

export function withTally(
  counted: Counters,
  { changed, unchanged, superseded, dropped, dead, held }: Summary,
): Counters {
  return { ...counted, changed, unchanged, superseded, dropped, dead, held };
}

export function added(a: Counters, b: Counters): Counters {
  return Object.fromEntries(counterNames.map((name) => [name, a[name] + b[name]])) as Record<keyof Counters, number>;
}
