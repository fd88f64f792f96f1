import { hash } from 'node:crypto';
import type { Pool } from '../db/pool.ts';

const hashOf = (what: string): Buffer => hash('sha256', what, 'buffer');

/** True for the first use on any node. `lifeMs`: after this time it is refused for its age. */
export async function useOnce(db: Pool, what: string, lifeMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into one_time (hash, until) values ($1, now() + $2 * interval '1 ms') on conflict do nothing`,
    [hashOf(what), lifeMs],
  );
  return rowCount === 1;
}

/** What the sealed context of a link is bound to. */
export const contextOf = (what: string): string => `one time ${hashOf(what).toString('hex')}`;

/** For a link that is handed out: its context waits until it comes back. */
export async function keepOnce(db: Pool, what: string, sealed: Buffer, lifeMs: number): Promise<void> {
  await db.query(`insert into one_time (hash, until, sealed) values ($1, now() + $2 * interval '1 ms', $3)`, [
    hashOf(what),
    lifeMs,
    sealed,
  ]);
}

/** The context, for the first caller on any node and while it is valid. */
export async function takeOnce(db: Pool, what: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ sealed: Buffer }>(
    'delete from one_time where hash = $1 and until > now() and sealed is not null returning sealed',
    [hashOf(what)],
  );
  return rows[0]?.sealed;
}

export async function pruneOneTime(db: Pool): Promise<number> {
  return (await db.query('delete from one_time where until < now()')).rowCount ?? 0;
}
