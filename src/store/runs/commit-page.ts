import type { Brand } from '../../brand/brand.ts';
import type { Lease } from '../../intake/pull/ports.ts';
import type { Counters, PageCommit, PageRows } from '../../intake/pull/run/run-state.ts';
import { isRefusedData, isSqlState } from '../../kit/sql-state.ts';
import { countUnchanged, type Shown } from '../../reconcile/accidents/guard.ts';
import type { Tally } from '../../reconcile/forms.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { processedOf, settleDeadLetters } from '../operate/dead-letter-settle.ts';
import { countUnrouted } from '../records/drift.ts';
import { insertSighting, knownRows } from '../records/listed.ts';
import { type OnChanged, take } from '../records/take.ts';
import { fencedTransaction } from './fenced.ts';
import { moveRun } from './move-run.ts';
import { added, withTally } from './row.ts';
import { withoutRefused } from './set-aside.ts';
import { stageRows } from './staged-rows.ts';

interface PageContext {
  readonly pool: Pool;
  readonly onChanged: OnChanged;
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
  const { pool, onChanged } = page;
  const write = async (written = commit) => {
    const done = await fencedTransaction(
      pool,
      (tx) => applyPage(tx, page, written),
      (_, { sendLast }) => sendLast(),
    );
    if (done === 'fenced') return done;
    for (const changed of done.changed) onChanged(changed);
    return done.counters;
  };
  return write().catch((error: unknown) => {
    if (isSqlState(error, 'deadlockDetected')) return write();
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
): Promise<{ counters: Counters; changed: readonly Brand[]; sendLast: () => Promise<unknown> }> {
  const { lease, leaseMs, brand, pagesBefore } = page;
  const window = { ...commit.log.window, runId: lease.runId };
  const applied = [{ brand, ...(await applyRows(tx, window, commit, brand)) }];
  for (const rows of commit.routed ?? []) {
    applied.push({ brand: rows.brand, ...(await applyRows(tx, window, rows, rows.brand)) });
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
  const changed = applied.filter((one) => one.counters.changed > 0).map((one) => one.brand);
  return { counters, changed, sendLast };
}

const noTally: Tally = { changed: 0, unchanged: 0, superseded: 0, dropped: 0, dead: 0, held: 0, outcomes: [] };

/** Known rows were skipped before the transaction; those whose reservation has changed since are now mapped and applied. */
async function applyRows(tx: Tx, window: NonNullable<Shown['window']>, commit: PageRows, brand: Brand) {
  const still = new Set((await knownRows(tx, brand, commit.known)).map(({ key }) => key));
  const moved = new Set(commit.known.flatMap(({ key }) => (still.has(key) ? [] : [key])));
  const late = moved.size === 0 ? undefined : commit.readLate(moved);
  const statements = late ? [...commit.statements, ...late.statements] : commit.statements;
  const shown = { unchanged: commit.known.length, window };
  const tally = statements.length === 0 ? noTally : await take(tx, brand, statements, shown);
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
