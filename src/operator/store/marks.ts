import { hash } from 'node:crypto';
import { columnOf, hitsOne, type Pool } from '../../core/store/db/pool.ts';

/**
 * True once per interval, on one node: the node that moves the mark does the work. With a lease the mark lasts that long only, until
 * `keepMark` says that the work is done: work that was not done is claimed again.
 */
export const claimMark = (pool: Pool, name: string, everyMs: number, leaseMs = everyMs): Promise<boolean> =>
  hitsOne(pool)(
    `insert into marks as m (name, at) values ($1, now() + $3 * interval '1 ms')
     on conflict (name) do update set at = excluded.at where m.at <= now() - $2 * interval '1 ms'`,
    [name, everyMs, leaseMs - everyMs],
  );

/** Nobody claims it again before its interval and the rest. */
export const keepMark = (pool: Pool, name: string, restMs = 0) =>
  pool.query(`update marks set at = now() + $2 * interval '1 ms' where name = $1`, [name, restMs]);

/** True for the first use on any node. `lifeMs`: after this time it is refused for its age. */
export const useOnce = (pool: Pool, what: string, lifeMs: number): Promise<boolean> =>
  claimMark(pool, `used ${hash('sha256', what)}`, lifeMs);

/** Until when something is done; the beginning of time if it never was. */
export const readMark = async (pool: Pool, name: string): Promise<number> =>
  (await columnOf(pool)<Date>('select at from marks where name = $1', [name]))[0]?.getTime() ?? 0;

export const moveMark = (pool: Pool, name: string, ms: number) =>
  pool.query(
    `insert into marks (name, at) values ($1, to_timestamp($2 / 1000.0)) on conflict (name) do update set at = excluded.at`,
    [name, ms],
  );
