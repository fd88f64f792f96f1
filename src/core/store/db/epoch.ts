import { onlyRow, type Pool, type Tx } from './pool.ts';

/** The position of the store. Both numbers only rise, unless the database is replaced by an older copy. */
export interface StorePosition {
  readonly epoch: number;
  readonly beat: number;
}

/** Advances the store by one beat. The beat is on disk when this returns, so a crash of the database never undoes it. */
export async function nextBeat(db: Pool): Promise<StorePosition> {
  return onlyRow(db)<StorePosition>('update store_state set beat = beat + 1 returning epoch, beat');
}

/** Raises the epoch above `above`, once: a second node that noticed the same restore changes nothing. */
export async function raiseEpoch(db: Pool, above: number): Promise<void> {
  await db.query('update store_state set epoch = $1 where epoch < $1', [above + 1]);
}

/**
 * Raises the epoch without a remembered position: to the seconds since 2020, by the database's clock. Adding one would repeat an epoch if
 * the same backup, or an older one, was restored before.
 */
export async function declareEpoch(db: Pool | Tx): Promise<void> {
  await db.query(
    `update store_state set epoch = greatest(epoch + 1, extract(epoch from now() - timestamptz '2020-01-01 00:00Z')::int)`,
  );
}
