import type { Lease } from '../../intake/pull/ports.ts';
import type { Counters, PageCommit } from '../../intake/pull/run/run-state.ts';
import { isSqlState } from '../../kit/sql-state.ts';
import { texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';
import { isHeld } from '../lease.ts';
import { Fenced } from './fenced.ts';
import { addCounters, heldRun, runTable } from './row.ts';

interface Move {
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly pagesBefore: number;
  readonly commit: PageCommit;
  readonly counters: Counters;
}

/**
 * Moves the run to the position after the page, adds its counters and logs the page. The commit is sent without waiting for this
 * statement's answer, so the statement itself fails if another node holds the run or the page before is missing: PostgreSQL then
 * turns the commit into a rollback.
 */
export async function moveRun(tx: Tx, { lease, leaseMs, pagesBefore, commit, counters }: Move): Promise<void> {
  const { log, position } = commit;
  const added = addCounters(counters, 22);
  const moving = tx.query({
    name: 'move-run',
    text: `
     with moved as (
       update runs set due_at = now() + $4 * interval '1 ms', waiting = null, position = $5, ${added.sql}
        where ${isHeld(runTable)} and pages = $20
       returning pages
     ), logged as (
       insert into run_pages (integration, run_id, page_no, window_from, window_to, pass, requested_at, duration_ms, tries,
                              waited_ms, bytes, rows, fresh, changed, mark, fingerprint, seen, skipped)
       select $1, $2, pages, $6, $7, $8, to_timestamp($9::float8 / 1000.0), $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $21::text[]
         from moved
     )
     select require_held_run(count(*)) from moved`,
    values: [
      ...heldRun(lease),
      leaseMs,
      JSON.stringify(position),
      log.window.from,
      log.window.to,
      log.pass,
      log.requestedAt,
      log.durationMs,
      log.tries,
      log.waitedMs,
      log.bytes,
      log.rows,
      log.fresh,
      counters.changed,
      log.mark,
      log.fingerprint,
      log.seen.length === 0 ? null : Buffer.from(log.seen.buffer, log.seen.byteOffset, log.seen.byteLength),
      pagesBefore,
      log.skipped?.length ? texts(log.skipped) : null,
      ...added.values,
    ],
  });
  await moving.catch((error: unknown) => {
    throw isSqlState(error, 'runNotHeld') ? new Fenced() : error;
  });
}
