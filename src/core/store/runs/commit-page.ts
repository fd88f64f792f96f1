import { isRefusedData, isSqlState } from '../../../kit/sql-state.ts';
import type { RunId } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { Handover, Outgoing } from '../../deliver/handover.ts';
import type { Lease } from '../../intake/pull/ports.ts';
import type { Counters, PageCommit, PageRows } from '../../intake/pull/run/run-state.ts';
import { countUnchanged, type Shown } from '../../reconcile/accidents/guard.ts';
import type { Statement, Summary } from '../../reconcile/forms.ts';
import { texts } from '../db/columns.ts';
import { isRetried, type Pool, type Tx, transaction } from '../db/pool.ts';
import { isHeld } from '../lease.ts';
import { processedOf, settleDeadLetters } from '../records/dead-letters.ts';
import { countUnrouted } from '../records/drift.ts';
import { ingest } from '../records/ingest.ts';
import { insertSighting, knownRows } from '../records/listed.ts';
import { Fenced, fencedTransaction, withoutRefused } from './page-transaction.ts';
import { addCounters, added, heldRun, runTable, withTally } from './row.ts';
import { stageRows } from './staged-rows.ts';

interface PageContext {
  readonly pool: Pool;
  readonly handover: Handover;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly brand: Brand;
  readonly pagesBefore: number;
}

/**
 * A page in one transaction: its records, the position after it, its counters and its log. It commits only if this node still holds
 * the run.
 */
export async function commitPage(page: PageContext, commit: PageCommit): Promise<Counters | 'fenced'> {
  const { pool } = page;
  const write = async (written = commit) => {
    const done = await fencedTransaction(
      pool,
      (tx) => applyPage(tx, page, written),
      (_, { sendLast }) => sendLast(),
    );
    if (done === 'fenced') return done;
    done.outgoing.send();
    return done.counters;
  };
  return write().catch((error: unknown) => {
    if (isRetried(error)) return write();
    if (isRefusedData(error)) return writeRest(page, commit, write);
    throw error;
  });
}

/** Writes the page with the records that the database refuses as dead letters. */
async function writeRest(
  { pool, brand }: PageContext,
  commit: PageCommit,
  write: (commit: PageCommit) => Promise<Counters | 'fenced'>,
): Promise<Counters | 'fenced'> {
  const routed = [];
  for (const rows of commit.routed ?? []) {
    routed.push({ ...rows, statements: await withoutRefused(pool, rows.brand, rows.statements) });
  }
  return write({ ...commit, statements: await withoutRefused(pool, brand, commit.statements), routed });
}

/** Applies the records. `sendLast` writes the rest, pipelined with the commit. */
async function applyPage(
  tx: Tx,
  page: PageContext,
  commit: PageCommit,
): Promise<{ counters: Counters; outgoing: Outgoing; sendLast: () => Promise<unknown> }> {
  const { handover, lease, leaseMs, brand, pagesBefore } = page;
  const outgoing = handover.begin();
  const window = { ...commit.log.window, runId: lease.runId };
  const applied = [{ brand, ...(await applyRows(tx, window, commit, brand, outgoing)) }];
  for (const rows of commit.routed ?? []) {
    applied.push({ brand: rows.brand, ...(await applyRows(tx, window, rows, rows.brand, outgoing)) });
  }
  const counters = applied.map((one) => one.counters).reduce(added);
  const sendLast = () =>
    Promise.all([
      ...applied.flatMap(({ brand: of, statements, outcomes, unchanged }) => [
        ...(unchanged.length > 0
          ? [insertSighting(tx, of.integration, commit.requestedAt, lease.runId, unchanged)]
          : []),
        settleDeadLetters(tx, of.integration, lease.runId, [
          ...unchanged.map((id) => ({ id, requestedAt: commit.requestedAt, mode: 'pull' as const })),
          ...processedOf(statements, outcomes),
        ]),
      ]),
      ...(commit.unrouted ? [countUnrouted(tx, brand.integration, commit.unrouted)] : []),
      stageRows(tx, lease, commit.staged),
      moveRun(tx, { lease, leaseMs, pagesBefore, commit, counters }),
    ]);
  return { counters, outgoing, sendLast };
}

const noTally: Summary = { changed: 0, unchanged: 0, superseded: 0, dropped: 0, dead: 0, held: 0, outcomes: [] };

/** Known rows were skipped before the transaction; those whose reservation has changed since are now mapped and applied. */
async function applyRows(
  tx: Tx,
  window: NonNullable<Shown['window']>,
  commit: PageRows,
  brand: Brand,
  outgoing: Outgoing,
) {
  const still = new Set((await knownRows(tx, brand, commit.known)).map(({ key }) => key));
  const moved = new Set(commit.known.flatMap(({ key }) => (still.has(key) ? [] : [key])));
  const late = moved.size === 0 ? undefined : commit.readLate(moved);
  const statements = late ? [...commit.statements, ...late.statements] : commit.statements;
  const shown = { unchanged: commit.known.length, window };
  const tally = statements.length === 0 ? noTally : await ingest(tx, brand, statements, shown, outgoing);
  if (statements.length === 0) countUnchanged(brand.guard, window.runId, commit.known.length);
  const unchanged = commit.known.filter(({ key }) => !moved.has(key)).map(({ id }) => id);
  const counted = withTally(late ? added(commit.counted, late.counted) : commit.counted, tally);
  const counters = {
    ...counted,
    fetched: counted.fetched + unchanged.length,
    unchanged: counted.unchanged + unchanged.length,
  };
  return { counters, statements, outcomes: tally.outcomes, unchanged };
}

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
async function moveRun(tx: Tx, { lease, leaseMs, pagesBefore, commit, counters }: Move): Promise<void> {
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

/** Applies one reservation that was requested by its id, as a separate, finished run, so that the timeline can show a cause. */
export async function commitRefetch(
  { pool, handover }: { readonly pool: Pool; readonly handover: Handover },
  brand: Brand,
  statement: Statement,
  { runId, by, bytes }: { readonly runId: RunId; readonly by: string; readonly bytes: number },
): Promise<Summary> {
  const { tally, outgoing } = await transaction(pool, async (tx) => {
    const outgoing = handover.begin();
    const tally = await ingest(tx, brand, [statement], undefined, outgoing);
    await settleDeadLetters(tx, brand.integration, runId, processedOf([statement], tally.outcomes));
    await tx.query(
      `insert into runs (integration, run_id, sync, kind, state, requested_by, started_at, finished_at, connector_version,
                         integration_version, pages, requests, bytes, rows, fetched, changed, unchanged, superseded, dropped, dead)
       values ($1, $2, 'backfill', 'manual', 'complete', $3, now(), now(), $4, $5, 1, 1, $6, 1, 1, $7, $8, $9, $10, $11)`,
      [
        brand.integration,
        runId,
        by,
        brand.connectorVersion,
        brand.integrationVersion,
        bytes,
        tally.changed,
        tally.unchanged,
        tally.superseded,
        tally.dropped,
        tally.dead,
      ],
    );
    return { tally, outgoing };
  });
  outgoing.send();
  return tally;
}
