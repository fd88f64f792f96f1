import { hash } from 'node:crypto';
import type { Pool } from '../db/pool.ts';

/** True for the first use on any node. `lifeMs`: after this time it is refused for its age. */
export async function useOnce(db: Pool, what: string, lifeMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into used_once (hash, until) values ($1, now() + $2 * interval '1 ms') on conflict do nothing`,
    [hash('sha256', what, 'buffer'), lifeMs],
  );
  return rowCount === 1;
}

export async function pruneUsedOnce(db: Pool): Promise<number> {
  return (await db.query('delete from used_once where until < now()')).rowCount ?? 0;
}
