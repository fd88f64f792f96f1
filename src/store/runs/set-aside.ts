import { isRefusedData } from '../../kit/sql-state.ts';
import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import type { Prepared } from '../../reconcile/incoming.ts';
import type { Json } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';
import { applyPrepared } from '../records/apply.ts';

/**
 * Replaces the records that the database refuses by dead letters, so that one record cannot stop its page. Called after a page was
 * refused as a whole. Each half of the records is tried in a transaction that is rolled back, then halved again: two tries per level
 * for one refused record.
 */
export async function withoutRefused(
  pool: Pool,
  target: ApplyTarget,
  prepared: readonly Prepared[],
): Promise<readonly Prepared[]> {
  const error = await refusalOf(pool, target, prepared);
  if (error === undefined) return prepared;
  const [only] = prepared;
  if (prepared.length === 1 && only !== undefined) return [refused(only, error)];
  const middle = Math.ceil(prepared.length / 2);
  return [
    ...(await withoutRefused(pool, target, prepared.slice(0, middle))),
    ...(await withoutRefused(pool, target, prepared.slice(middle))),
  ];
}

async function refusalOf(pool: Pool, target: ApplyTarget, prepared: readonly Prepared[]): Promise<unknown> {
  if (prepared.length === 0) return undefined;
  const tx = await pool.connect();
  try {
    await tx.query('begin');
    await applyPrepared(tx, target, prepared);
    return undefined;
  } catch (error) {
    if (isRefusedData(error)) return error;
    throw error;
  } finally {
    await tx.query('rollback').finally(() => tx.release());
  }
}

/** Without the id, because the database may have refused the id itself; the payload keeps it. */
function refused(one: Prepared, error: unknown): Prepared {
  const state = String((error as { code?: unknown }).code ?? 'none');
  const raw: Json =
    one.kind === 'record'
      ? { key: '', value: one.incoming.raw }
      : one.kind === 'dropped'
        ? { key: '', value: one.raw }
        : one.deadLetter.raw;
  return {
    kind: 'dead',
    arrival: one.arrival,
    deadLetter: {
      kind: 'record',
      type: one.kind === 'record' ? one.incoming.type : 'reservation',
      code: 'record.refused_by_store',
      message: `The database refused this record (SQLSTATE ${state}).`,
      detail: { sql_state: state },
      raw,
    },
  };
}
