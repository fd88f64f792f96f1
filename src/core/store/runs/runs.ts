import { systemClock } from '../../../kit/clock.ts';
import { timedId } from '../../../kit/ids.ts';
import { jsonbText, storedText } from '../../../kit/json.ts';
import type { EpochMs, IntegrationName, SyncType } from '../../../terms.ts';
import type { Handover } from '../../deliver/handover.ts';
import type { Lease, Queued, QueueRequest, RunStore, RunView } from '../../intake/pull/ports.ts';
import type { Run } from '../../intake/pull/run/run-state.ts';
import { cellOf, hitsOne, type Pool, rowOf, rowsOf, type Tx, withoutNulls } from '../db/pool.ts';
import { changeHeld, claimDue, isHeld } from '../lease.ts';
import { knownRows } from '../records/listed.ts';
import { commitPage } from './commit-page.ts';
import { addCounters, countersColumn, heldRun, runColumns, runTable } from './row.ts';
import { commitFormed, stagedKeys } from './staged-rows.ts';
import {
  findUnlisted,
  noteUnlisted,
  receivedElsewhere,
  storedReservation,
  storedRooms,
} from './stored-reservations.ts';

/** What a claim sets besides the lease; `node` is the parameter with the name of the node. */
const running = (node: string) =>
  `state = 'running', node = ${node}, waiting = null, started_at = coalesce(t.started_at, now())`;

/** The store behind pulling. */
export function openRunStore(pool: Pool, handover: Handover): RunStore {
  const change = (lease: Lease, set: string, values: readonly unknown[]) =>
    changeHeld(pool, runTable, heldRun(lease), set, values);
  return {
    queue: (request, claim) => queueRun(pool, request, claim),
    /** The runs due longest: queued, parked, or abandoned by a node whose lease expired. */
    async claimDue(most, node, leaseMs) {
      const runs = await rowsOf(pool)<Run>(
        `with ${claimDue(runTable, { set: running('$3'), returning: 't.*' })} select ${runColumns} from claimed`,
        [most, leaseMs, node],
      );
      return runs.map(withoutNulls);
    },
    /** A run that somebody waits for is claimed before its time. */
    async claim(integration, runId, node, leaseMs) {
      const run = await rowOf(pool)<Run>(
        `update runs t set due_at = now() + $4 * interval '1 ms', fence = fence + 1, ${running('$3')}
          where integration = $1 and run_id = $2 and (state = 'queued' or (state = 'running' and due_at <= now()))
          returning ${runColumns}`,
        [integration, runId, node, leaseMs],
      );
      return run && withoutNulls(run);
    },
    extend: (lease, leaseMs, waiting) =>
      change(lease, `due_at = now() + $4 * interval '1 ms', waiting = $5`, [leaseMs, waiting]),
    async start(lease, position, brand) {
      return hitsOne(pool)(
        `with old_pages as (
           delete from run_pages where integration = $1 and run_id = $2
         ), old_rows as (
           delete from staged_rows where integration = $1 and run_id = $2
         )
         update runs set position = $4, connector_version = $5, integration_version = $6, pages = 0, rows = 0, fetched = 0,
                changed = 0, unchanged = 0, superseded = 0, dropped = 0, skipped = 0, repeated = 0, dead = 0, bytes = 0
          where ${isHeld(runTable)}`,
        [...heldRun(lease), JSON.stringify(position), brand.connectorVersion, brand.integrationVersion],
      );
    },
    commitPage: (lease, leaseMs, commit, brand, pagesBefore) =>
      commitPage({ pool, handover, lease, leaseMs, brand, pagesBefore }, commit),
    known: (brand, rows) => knownRows(pool, brand, rows),
    commitPosition: (lease, position) => change(lease, 'position = $4', [JSON.stringify(position)]),
    async windowPages(lease, window, pass) {
      const { rows } = await pool.query<{ pass: number; mark: number; fingerprint: number; seen: Buffer | null }>(
        `select pass, mark, fingerprint, seen from run_pages
          where integration = $1 and run_id = $2 and window_from = $3 and window_to = $4 order by page_no`,
        [lease.integration, lease.runId, window.from, window.to],
      );
      const current = rows.filter((row) => row.pass === pass);
      return {
        marks: current.map(({ mark }) => mark),
        fingerprints: current.map(({ fingerprint }) => fingerprint),
        seen: rows.flatMap((row) => (row.seen === null ? [] : [{ bytes: row.seen, isCurrent: row.pass === pass }])),
      };
    },
    staged: (lease, most) => stagedKeys(pool, lease, most),
    commitFormed: (lease, leaseMs, formed, brand) => commitFormed({ pool, handover }, lease, leaseMs, formed, brand),
    unlisted: (lease, range, of) => findUnlisted(pool, lease, range, of),
    noteUnlisted: (lease, integration, sync, notes) => noteUnlisted(pool, lease, integration, sync, notes),
    storedReservation: (integration, id) => storedReservation(pool, integration, id),
    storedRooms: (integration, ids) => storedRooms(pool, integration, ids),
    receivedElsewhere: (integration, others, bookings) => receivedElsewhere(pool, integration, others, bookings),
    park(lease, counted, { afterMs, waiting, position }) {
      const counters = addCounters(counted, 7);
      return change(
        lease,
        `state = 'queued', node = null, due_at = now() + $4 * interval '1 ms', waiting = $5,
         position = coalesce($6::jsonb, position), ${counters.sql}`,
        [afterMs, waiting, position === undefined ? null : JSON.stringify(position), ...counters.values],
      );
    },
    async finish(lease, end, counted) {
      const counters = addCounters(counted, 11);
      return hitsOne(pool)(
        `with ended as (
           update runs set state = $4, error_code = $5, error_message = $6, partner_text = $8, findings = $7, last_request = $10,
                  finished_at = now(), due_at = null, node = null, waiting = null, ${counters.sql}
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
          end.code,
          storedText(end.message),
          jsonbText(JSON.stringify(end.findings)),
          storedText(end.said),
          end.watermark,
          end.request === undefined ? null : jsonbText(JSON.stringify(end.request)),
          ...counters.values,
        ],
      );
    },
    async get(integration, runId) {
      const view = await rowOf(pool)<RunView>(
        `select state, position, waiting, error_code as "errorCode", error_message as "errorMessage", ${countersColumn}
           from runs where integration = $1 and run_id = $2`,
        [integration, runId],
      );
      return view && withoutNulls(view);
    },
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
): Promise<Queued> {
  const sync = request.sync ?? 'backfill';
  for (;;) {
    const run = await rowOf(pool)<Run>(
      `insert into runs (integration, run_id, sync, kind, state, from_date, to_date, requested_by, due_at, node, fence, started_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9 * interval '1 ms', $10, $11, case when $10::text is null then null else now() end)
       on conflict (integration, sync) where state in ('queued', 'running') do nothing
       returning ${runColumns}`,
      [
        request.integration,
        timedId('run', systemClock.now()),
        sync,
        request.kind,
        claim ? 'running' : 'queued',
        request.from,
        request.to,
        request.requestedBy,
        claim?.leaseMs ?? 0,
        claim?.node,
        claim ? 1 : 0,
      ],
    );
    if (run) return { kind: 'queued', run: withoutNulls(run) };
    const runId = await cellOf(pool)<string>(
      `select run_id from runs where integration = $1 and sync = $2 and state in ('queued', 'running')`,
      [request.integration, sync],
    );
    if (runId) return { kind: 'busy', runId };
  }
}

/** When the last complete run of the sync began; undefined before the first, and if that run read another feed. */
export const readWatermark = (
  pool: Pool,
  integration: IntegrationName,
  sync: SyncType,
  feed: number,
): Promise<EpochMs | undefined> =>
  cellOf(pool)(
    `select extract(epoch from read_at)::float8 * 1000 as ms from syncs where integration = $1 and sync = $2 and feed = $3`,
    [integration, sync, feed],
  );
