import { type Pool, type Tx, transaction } from '../db/pool.ts';

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
