import type { DirectLeaseBatch, DirectLeases } from '../../deliver/direct-leases.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { leasingTransaction } from '../outbox/leasing-transaction.ts';

/** Thrown inside a transaction to roll it back: another node holds the run, or the run is not at this page. */
export class Fenced extends Error {}

/** A leasing transaction that returns 'fenced' instead of throwing Fenced; `last` is sent together with the commit. */
export async function fencedTransaction<T>(
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
