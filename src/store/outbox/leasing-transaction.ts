import type { DirectLeaseBatch, DirectLeases } from '../../deliver/direct-leases.ts';
import { type Pool, type Tx, transaction } from '../db/pool.ts';

/** A transaction that may lease its changes directly to this node's channels; `last` and `lockMs` as in `transaction`. */
export function leasingTransaction<T>(
  pool: Pool,
  directLeases: DirectLeases,
  work: (tx: Tx, leaseBatch: DirectLeaseBatch) => Promise<T>,
  last?: (tx: Tx, result: T) => Promise<unknown> | undefined,
  lockMs?: number,
): Promise<T> {
  return directLeases.during((leaseBatch) => {
    const attempt = (tx: Tx) => {
      leaseBatch.begin();
      return work(tx, leaseBatch);
    };
    return transaction(pool, attempt, last, lockMs);
  });
}
