import type { Handing, Handover } from '../deliver/handover.ts';
import { type Pool, type Tx, transaction } from './pool.ts';

/** A transaction whose changes may take the short way to their destinations, once it is committed; `last` as in `transaction`. */
export function handingTransaction<T>(
  pool: Pool,
  handover: Handover,
  work: (tx: Tx, handing: Handing) => Promise<T>,
  last?: (tx: Tx, result: T) => Promise<unknown> | undefined,
): Promise<T> {
  return handover.during((handing) => {
    const begun = (tx: Tx) => {
      handing.begin();
      return work(tx, handing);
    };
    return transaction(pool, begun, last);
  });
}
