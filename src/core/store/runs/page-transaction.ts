import { isRefusedData } from '../../../kit/sql-state.ts';
import type { Json } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { Statement } from '../../reconcile/forms.ts';
import { type Pool, rolledBack, type Tx, transaction } from '../db/pool.ts';
import { ingest } from '../records/ingest.ts';

/** Thrown inside a transaction to roll it back: another node holds the run, or the run is not at this page. */
export class Fenced extends Error {}

/** A transaction that returns 'fenced' instead of throwing Fenced; `last` is sent together with the commit. */
export async function fencedTransaction<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  last?: (tx: Tx, result: T) => Promise<unknown>,
): Promise<T | 'fenced'> {
  try {
    return await transaction(pool, work, last);
  } catch (error) {
    if (error instanceof Fenced) return 'fenced';
    throw error;
  }
}

/**
 * Replaces the records that the database refuses by dead letters, so that one record cannot stop its page. Called after a page was
 * refused as a whole. Each half of the records is tried in a transaction that is rolled back, then halved again: two tries per level
 * for one refused record.
 */
export async function withoutRefused(
  pool: Pool,
  brand: Brand,
  statements: readonly Statement[],
): Promise<readonly Statement[]> {
  const error = await refusalOf(pool, brand, statements);
  if (error === undefined) return statements;
  const [only] = statements;
  if (statements.length === 1 && only !== undefined) return [refused(only, error)];
  const middle = Math.ceil(statements.length / 2);
  return [
    ...(await withoutRefused(pool, brand, statements.slice(0, middle))),
    ...(await withoutRefused(pool, brand, statements.slice(middle))),
  ];
}

async function refusalOf(pool: Pool, brand: Brand, statements: readonly Statement[]): Promise<unknown> {
  if (statements.length === 0) return undefined;
  return rolledBack(pool, async (tx) => void (await ingest(tx, brand, statements))).catch((error: unknown) => {
    if (isRefusedData(error)) return error;
    throw error;
  });
}

/** Without the id, because the database may have refused the id itself; the payload keeps it. */
function refused(one: Statement, error: unknown): Statement {
  const state = String((error as { code?: unknown }).code ?? 'none');
  const { receipt, source, scope, type, failure } = one;
  const raw: Json = failure?.raw ?? { key: '', value: one.raw.value };
  const message = `The database refused this record (SQLSTATE ${state}).`;
  return {
    type,
    id: '',
    receipt,
    source,
    scope,
    failure: { kind: 'record', type, code: 'record.refused_by_store', message, detail: { sql_state: state }, raw },
    raw: { key: '', value: null },
    notes: [],
  };
}
