import type { Brand } from '../../brand/brand.ts';
import type { Lease, Parked, Queued, QueueRequest, RunStore, RunView } from '../../intake/pull/ports.ts';
import type { Counters, Position, Run, RunEnd } from '../../intake/pull/run/run-state.ts';
import { type Clock, systemClock } from '../../kit/clock.ts';
import { timedId } from '../../kit/ids.ts';
import { jsonbText, storedText } from '../../kit/json.ts';
import type { WaitReason } from '../../outbound/ask/ports.ts';
import type { IntegrationName } from '../../terms.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { changeHeld, claimDue, isHeld } from '../lease.ts';
import { knownRows } from '../records/listed.ts';
import type { OnChanged } from '../records/take.ts';
import { commitPage } from './commit-page.ts';
import { receivedElsewhere } from './received-elsewhere.ts';
import { addCounters, countersOf, heldRun, type RunRow, runColumns, runOf, runTable } from './row.ts';
import { commitFormed, stagedKeys } from './staged-rows.ts';
import { storedRooms } from './stored-rooms.ts';
import { findUnlisted, noteUnlisted, storedReservation } from './unlisted.ts';
import { readWatermark } from './watermarks.ts';
import { windowPages } from './window-pages.ts';

/** The store behind pulling. */
export function openRunStore(pool: Pool, onChanged: OnChanged, clock: Pick<Clock, 'now'> = systemClock): RunStore {
  return {
    queue: (request, claim) => queueRun(pool, request, claim, clock),
    claimDue: (most, node, leaseMs) => claimDueRuns(pool, most, node, leaseMs),
    claim: (integration, runId, node, leaseMs) => claimRun(pool, integration, runId, node, leaseMs),
    extend: (lease, leaseMs, waiting) => extendLease(pool, lease, leaseMs, waiting),
    start: (lease, position, target) => startRun(pool, lease, position, target),
    commitPage: (lease, leaseMs, commit, brand, pagesBefore) =>
      commitPage({ pool, onChanged, lease, leaseMs, brand, pagesBefore }, commit),
    known: (target, rows) => knownRows(pool, target, rows),
    commitPosition: (lease, position) => commitPosition(pool, lease, position),
    windowPages: (lease, window, pass) => windowPages(pool, lease, window, pass),
    staged: (lease, most) => stagedKeys(pool, lease, most),
    commitFormed: (lease, leaseMs, formed, target) => commitFormed({ pool, onChanged }, lease, leaseMs, formed, target),
    unlisted: (lease, range, of) => findUnlisted(pool, lease, range, of),
    noteUnlisted: (lease, integration, sync, notes) => noteUnlisted(pool, lease, integration, sync, notes),
    storedReservation: (integration, id) => storedReservation(pool, integration, id),
    storedRooms: (integration, ids) => storedRooms(pool, integration, ids),
    receivedElsewhere: (integration, others, bookings) => receivedElsewhere(pool, integration, others, bookings),
    park: (lease, counted, parked) => parkRun(pool, lease, counted, parked),
    finish: (lease, end, counted) => finishRun(pool, lease, end, counted),
    get: (integration, runId) => getRun(pool, integration, runId),
    watermark: (integration, sync, feed) => readWatermark(pool, integration, sync, feed),
  };
}

/**
 * Queues a run, or claims it at once for the caller. A sync has one active run over all nodes: the index runs_one_at_a_time refuses
 * a second one.
 */
export async function queueRun(
  pool: Pool | Tx,
  request: QueueRequest,
  claim?: { readonly node: string; readonly leaseMs: number },
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<Queued> {
  const sync = request.sync ?? 'backfill';
  for (;;) {
    const { rows } = await pool.query<RunRow>(
      `insert into runs (integration, run_id, sync, kind, state, from_date, to_date, requested_by, due_at, node, fence, started_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9 * interval '1 ms', $10, $11, case when $10::text is null then null else now() end)
       on conflict (integration, sync) where state in ('queued', 'running') do nothing
       returning ${runColumns}`,
      [
        request.integration,
        timedId('run', clock.now()),
        sync,
        request.kind,
        claim ? 'running' : 'queued',
        request.from ?? null,
        request.to ?? null,
        request.requestedBy,
        claim?.leaseMs ?? 0,
        claim?.node ?? null,
        claim ? 1 : 0,
      ],
    );
    if (rows[0]) return { kind: 'queued', run: runOf(rows[0]) };
    const going = await pool.query<{ run_id: string }>(
      `select run_id from runs where integration = $1 and sync = $2 and state in ('queued', 'running')`,
      [request.integration, sync],
    );
    if (going.rows[0]) return { kind: 'busy', runId: going.rows[0].run_id };
  }
}

/** What a claim sets besides the lease; `node` is the parameter with the name of the node. */
const running = (node: string) =>
  `state = 'running', node = ${node}, waiting = null, started_at = coalesce(t.started_at, now())`;

/** The runs due longest: queued, parked, or abandoned by a node whose lease expired. */
async function claimDueRuns(pool: Pool, most: number, node: string, leaseMs: number): Promise<Run[]> {
  const { rows } = await pool.query<RunRow>(
    `with ${claimDue(runTable, { set: running('$3'), returning: runColumns.replace(/\w+/g, 't.$&') })} select * from claimed`,
    [most, leaseMs, node],
  );
  return rows.map(runOf);
}

/** A run that somebody waits for is claimed before its time. */
async function claimRun(
  pool: Pool,
  integration: IntegrationName,
  runId: string,
  node: string,
  leaseMs: number,
): Promise<Run | undefined> {
  const { rows } = await pool.query<RunRow>(
    `update runs t set due_at = now() + $4 * interval '1 ms', fence = fence + 1, ${running('$3')}
      where integration = $1 and run_id = $2 and (state = 'queued' or (state = 'running' and due_at <= now()))
      returning ${runColumns}`,
    [integration, runId, node, leaseMs],
  );
  return rows[0] && runOf(rows[0]);
}

async function extendLease(
  pool: Pool,
  lease: Lease,
  leaseMs: number,
  waiting: WaitReason | undefined,
): Promise<boolean> {
  const set = `due_at = now() + $4 * interval '1 ms', waiting = $5`;
  return changeHeld(pool, runTable, heldRun(lease), set, [leaseMs, waiting ?? null]);
}

async function startRun(pool: Pool, lease: Lease, position: Position, target: Brand): Promise<boolean> {
  const { rowCount } = await pool.query(
    `with old_pages as (
       delete from run_pages where integration = $1 and run_id = $2
     ), old_rows as (
       delete from staged_rows where integration = $1 and run_id = $2
     )
     update runs set position = $4, connector_version = $5, integration_version = $6, pages = 0, rows = 0, fetched = 0,
            changed = 0, unchanged = 0, superseded = 0, dropped = 0, skipped = 0, repeated = 0, dead = 0, bytes = 0
      where ${isHeld(runTable)}`,
    [...heldRun(lease), JSON.stringify(position), target.connectorVersion, target.integrationVersion],
  );
  return rowCount === 1;
}

async function commitPosition(pool: Pool, lease: Lease, position: Position): Promise<boolean> {
  return changeHeld(pool, runTable, heldRun(lease), 'position = $4', [JSON.stringify(position)]);
}

async function parkRun(
  pool: Pool,
  lease: Lease,
  counted: Counters,
  { afterMs, waiting, position }: Parked,
): Promise<boolean> {
  const counters = addCounters(counted, 7);
  return changeHeld(
    pool,
    runTable,
    heldRun(lease),
    `state = 'queued', node = null, due_at = now() + $4 * interval '1 ms', waiting = $5,
     position = coalesce($6::jsonb, position), ${counters.sql}`,
    [afterMs, waiting ?? null, position === undefined ? null : JSON.stringify(position), ...counters.values],
  );
}

async function finishRun(pool: Pool, lease: Lease, end: RunEnd, counted: Counters): Promise<boolean> {
  const counters = addCounters(counted, 11);
  const { rowCount } = await pool.query(
    `with ended as (
       update runs set state = $4, error_code = $5, error_message = $6, partner_text = $8, findings = $7, last_request = $10, finished_at = now(), due_at = null,
              node = null, waiting = null, ${counters.sql}
        where ${isHeld(runTable)}
       returning integration, run_id, sync, position
     ), advanced as (
       insert into syncs (integration, sync, read_at, feed)
       select integration, sync, to_timestamp($9::float8 / 1000.0), (position ->> 'feed')::bigint from ended where $9::float8 is not null
       on conflict (integration, sync) do update set read_at = excluded.read_at, feed = excluded.feed
     ), emptied as (
       update run_pages p set seen = null from ended
        where p.integration = ended.integration and p.run_id = ended.run_id and p.seen is not null
     ), unstaged as (
       delete from staged_rows s using ended where s.integration = ended.integration and s.run_id = ended.run_id
     )
     select from ended`,
    [
      ...heldRun(lease),
      end.state,
      end.code ?? null,
      storedText(end.message) ?? null,
      jsonbText(JSON.stringify(end.findings)),
      storedText(end.said) ?? null,
      end.watermark ?? null,
      end.request === undefined ? null : jsonbText(JSON.stringify(end.request)),
      ...counters.values,
    ],
  );
  return rowCount === 1;
}

async function getRun(pool: Pool, integration: IntegrationName, runId: string): Promise<RunView | undefined> {
  const { rows } = await pool.query<RunRow>(`select ${runColumns} from runs where integration = $1 and run_id = $2`, [
    integration,
    runId,
  ]);
  const row = rows[0];
  return (
    row && {
      state: row.state,
      counters: countersOf(row),
      ...(row.position !== null && { position: row.position }),
      ...(row.waiting !== null && { waiting: row.waiting as WaitReason }),
      ...(row.error_code !== null && { errorCode: row.error_code as NonNullable<RunView['errorCode']> }),
      ...(row.error_message !== null && { errorMessage: row.error_message }),
    }
  );
}
