import type { DirectLeaseBatch, DirectLeases } from '../../deliver/direct-leases.ts';
import type { Lease, PageTurn, StagedKey, Target, WindowPages } from '../../intake/pull/ports.ts';
import type { Counters, PageCommit } from '../../intake/pull/run-state.ts';
import type { Window } from '../../intake/pull/windows.ts';
import { jsonbText } from '../../kit/json.ts';
import { isSqlState } from '../../kit/sql-state.ts';
import type { Prepared, Tally } from '../../reconcile/incoming.ts';
import type { Json } from '../../terms.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { leasingTransaction } from '../outbox/leasing-transaction.ts';
import { type ApplyWays, applyPrepared } from '../records/apply.ts';
import { insertSighting } from '../records/sightings.ts';
import { changedSince, rememberRows } from './pulled.ts';
import { addCounters } from './row.ts';

/** Thrown inside a transaction, to roll it back: the run belongs to another node, or is not as far as this page. */
class Fenced extends Error {}

async function inTransaction<T>(
  pool: Pool,
  directLeases: DirectLeases,
  work: (tx: Tx, leaseBatch: DirectLeaseBatch) => Promise<T>,
  last?: (tx: Tx, result: T) => Promise<unknown>,
): Promise<T | 'fenced'> {
  try {
    return await leasingTransaction(pool, directLeases, work, last);
  } catch (error) {
    if (error instanceof Fenced) return 'fenced';
    throw error;
  }
}

interface PageOf {
  readonly pool: Pool;
  readonly program: string;
  readonly directLeases: DirectLeases;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly target: Target;
  readonly turn: PageTurn;
}

/**
 * A page: its records, the place after it, its counters and its log, in one transaction that only the holder of the lease can end,
 * and only after the page before. The wait for that one is a lock of the database, so that it finds out if others wait in a circle.
 */
export async function commitPage(page: PageOf, commit: PageCommit): Promise<Counters | 'fenced'> {
  const { pool, directLeases, turn } = page;
  const write = async () => {
    const done = await inTransaction(
      pool,
      directLeases,
      (tx, leaseBatch) => takePage(tx, page, commit, leaseBatch),
      (_, { conclude }) => conclude(),
    );
    return done === 'fenced' ? done : done.counters;
  };
  const counters = await write().catch((error: unknown) => {
    if (isSqlState(error, 'deadlockDetected')) return 'fenced' as const;
    throw error;
  });
  // The page before may have lost its place in front of this one, or stand in a circle with it: then this one comes after all of it.
  return counters === 'fenced' && (await turn.before) ? write() : counters;
}

/** The records of a page, and what is left to do for it then. */
async function takePage(
  tx: Tx,
  page: PageOf,
  commit: PageCommit,
  leaseBatch: DirectLeaseBatch,
): Promise<{ readonly counters: Counters; readonly conclude: () => Promise<unknown> }> {
  const { program, lease, target } = page;
  const { after } = page.turn;
  const lock = (no: number) =>
    tx.query({
      name: 'lock-page',
      text: `select pg_advisory_xact_lock(hashtextextended('page ' || $1 || ' ' || $2, 0))`,
      values: [lease.runId, no],
    });
  let turn: Promise<unknown> | undefined;
  const inTurn = () => {
    turn ??= lock(after);
    return turn;
  };
  const own = lock(after + 1);
  // Where it fails, the statements behind it do too.
  own.catch(() => {});
  const { counters, pulled, prepared, outcomes, standing } = await takeIn(tx, commit, target, { leaseBatch, inTurn });
  await own;
  const conclude = () =>
    Promise.all([
      inTurn(),
      rememberRows(tx, program, target, pulled, prepared, outcomes),
      ...(standing.length > 0
        ? [insertSighting(tx, target.integration, commit.requestedAt, lease.runId, standing)]
        : []),
      stage(tx, lease, commit),
      moveOn(tx, page, commit, counters),
    ]);
  return { counters, conclude };
}

/** The page's records; known rows are looked at once more, and read where their reservation changed meanwhile. */
async function takeIn(tx: Tx, commit: PageCommit, target: Target, ways: ApplyWays) {
  const moved = commit.known.length === 0 ? new Set<string>() : await changedSince(tx, target, commit.known);
  const late = moved.size === 0 ? undefined : commit.readLate(moved);
  const prepared = late ? [...commit.prepared, ...late.prepared] : commit.prepared;
  const pulled = late ? [...commit.pulled, ...late.pulled] : commit.pulled;
  const tally = prepared.length === 0 ? nothing : await applyPrepared(tx, target, prepared, ways);
  const standing = commit.known.filter(({ key }) => !moved.has(key)).map(({ id }) => id);
  const read = withTally(late ? addUp(commit.counted, late.counted) : commit.counted, tally);
  const counters = {
    ...read,
    fetched: read.fetched + standing.length,
    unchanged: read.unchanged + standing.length,
  };
  return { counters, pulled, prepared, outcomes: tally.outcomes, standing };
}

const nothing: Tally = { changed: 0, unchanged: 0, superseded: 0, dropped: 0, dead: 0, outcomes: [] };

function addUp(a: Counters, b: Counters): Counters {
  const names = Object.keys(a) as (keyof Counters)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as Record<keyof Counters, number>;
}

/** Records put together from staged rows: the rows go in the transaction that takes the records in. */
export function commitFormed(
  pool: Pool,
  lease: Lease,
  leaseMs: number,
  formed: { readonly keys: readonly string[]; readonly prepared: readonly Prepared[]; readonly counted: Counters },
  target: Target,
  directLeases: DirectLeases,
): Promise<Tally | 'fenced'> {
  return inTransaction(pool, directLeases, async (tx, leaseBatch) => {
    const tally = await applyPrepared(tx, target, formed.prepared, { leaseBatch });
    await tx.query('delete from staged_rows where integration = $1 and run_id = $2 and key = any($3)', [
      lease.integration,
      lease.runId,
      formed.keys,
    ]);
    await count(tx, lease, leaseMs, formed.counted, tally);
    return tally;
  });
}

function withTally(counted: Counters, { changed, unchanged, superseded, dropped, dead }: Tally): Counters {
  return { ...counted, changed, unchanged, superseded, dropped, dead };
}

async function count(tx: Tx, lease: Lease, leaseMs: number, counted: Counters, tally: Tally): Promise<void> {
  const counters = addCounters(withTally(counted, tally), 5);
  const { rowCount } = await tx.query(
    `update runs set due_at = now() + $4 * interval '1 ms', waiting = null, ${counters.sql}
      where integration = $1 and run_id = $2 and fence = $3 and state = 'running'`,
    [lease.integration, lease.runId, lease.fence, leaseMs, ...counters.values],
  );
  if (rowCount !== 1) throw new Fenced();
}

/** The commit goes in the same flight: the statement itself must fail where the run is not ours to move, and so it divides. */
async function moveOn(tx: Tx, page: PageOf, commit: PageCommit, counted: Counters): Promise<void> {
  const { lease, leaseMs, turn } = page;
  const { log, position } = commit;
  const counters = addCounters(counted, 21);
  const moving = tx.query({
    name: 'move-run-on',
    text: `
     with moved as (
       update runs set due_at = now() + $4 * interval '1 ms', waiting = null, position = $5, ${counters.sql}
        where integration = $1 and run_id = $2 and fence = $3 and state = 'running' and pages = $20
       returning pages
     ), logged as (
       insert into run_pages (integration, run_id, page_no, window_from, window_to, pass, requested_at, duration_ms, tries,
                              waited_ms, bytes, rows, fresh, changed, mark, fingerprint, seen)
       select $1, $2, pages, $6, $7, $8, to_timestamp($9::float8 / 1000.0), $10, $11, $12, $13, $14, $15, $16, $17, $18, $19
         from moved
     )
     select 1 / count(*) from moved`,
    values: [
      lease.integration,
      lease.runId,
      lease.fence,
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
      counted.changed,
      log.mark,
      log.fingerprint,
      log.seen.length === 0 ? null : Buffer.from(log.seen.buffer, log.seen.byteOffset, log.seen.byteLength),
      turn.after,
      ...counters.values,
    ],
  });
  await moving.catch((error: unknown) => {
    throw isSqlState(error, 'divisionByZero') ? new Fenced() : error;
  });
}

export async function windowPages(pool: Pool, lease: Lease, window: Window, pass: number): Promise<WindowPages> {
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
}

/** A row that comes again word for word, from a second pass or the next window, is kept once. */
async function stage(tx: Tx, lease: Lease, { staged: rows }: PageCommit): Promise<void> {
  if (rows.length === 0) return;
  const texts = rows.map(({ row }) => jsonbText(JSON.stringify(row)));
  await tx.query(
    `insert into staged_rows (integration, run_id, key, row_hash, row_no, requested_at, row)
     select $1, $2, key, sha256(convert_to(text, 'UTF8')), nextval('intake_seq'), to_timestamp(ms / 1000.0), text::json
       from unnest($3::text[], $4::float8[], $5::text[]) with ordinality as t (key, ms, text, no) order by no
     on conflict do nothing`,
    [lease.integration, lease.runId, rows.map(({ key }) => key), rows.map(({ requestedAt }) => requestedAt), texts],
  );
}

export async function staged(pool: Pool, lease: Lease, most: number): Promise<StagedKey[]> {
  const { rows } = await pool.query<{ key: string; rows: Json[]; ms: number }>(
    `select key, json_agg(row order by row_no) as rows, extract(epoch from min(requested_at))::float8 * 1000 as ms
       from staged_rows
      where integration = $1 and run_id = $2
        and key in (select distinct key from staged_rows where integration = $1 and run_id = $2 order by key limit $3)
      group by key order by key`,
    [lease.integration, lease.runId, most],
  );
  return rows.map(({ key, rows: list, ms }) => ({ key, rows: list, requestedAt: ms }));
}
