import { changed, hitsOne, numberOf, type Pool, type Tx } from './db/pool.ts';

/**
 * Work that one node does at a time: a row with the columns `due_at` and `fence`.
 *
 *   due       due_at has passed: any node may claim it
 *   claimed   due_at is the end of the lease, by the database's clock, and the fence has risen; extending it moves due_at
 *   released  due_at is when it is due again, or null; if late writes could do harm, the fence rises again
 *
 * A node that was too slow has an outdated fence, and its writes change nothing (bench/mechanisms.md, 8).
 */
export interface LeasedTable {
  readonly name: string;
  readonly key: readonly string[];
  /** What else is true of a row that a node holds. */
  readonly held?: string;
}

/** The values of the key, in its order, and the fence of the claim. */
export type Held = readonly [...key: string[], fence: number];

/**
 * The CTEs `due` and `claimed`: claims the rows that have been due for longest, or the first in `order`, of those that meet `where`. $1 is how many, $2 the length of the lease in
 * milliseconds; further parameters belong to the caller. `set` and `returning` see the row as `t`, and as it was before as `due`.
 */
export const claimDue = (
  { name, key }: LeasedTable,
  more: { set: string; returning: string; order?: string; where?: string },
): string => `
  due as materialized (
    select * from ${name} where due_at <= now() and ${more.where ?? 'true'} order by ${more.order ?? 'due_at'} limit $1 for update skip locked
  ), claimed as (
    update ${name} t set due_at = now() + $2 * interval '1 ms', fence = t.fence + 1, ${more.set}
      from due where ${key.map((column) => `t.${column} = due.${column}`).join(' and ')}
    returning ${more.returning}
  )`;

/** The condition that the row is held; its first parameters are the values of `Held`. */
export const isHeld = ({ key, held }: LeasedTable): string =>
  [...[...key, 'fence'].map((column, i) => `${column} = $${i + 1}`), ...(held === undefined ? [] : [held])].join(
    ' and ',
  );

/** Changes the row if it is still held. The parameters of `set` follow those of `Held`. */
export const changeHeld = (
  db: Pool | Tx,
  table: LeasedTable,
  held: Held,
  set: string,
  values: readonly unknown[] = [],
): Promise<boolean> => hitsOne(db)(`update ${table.name} set ${set} where ${isHeld(table)}`, [...held, ...values]);

/**
 * Ends the leases that a killed service left behind, so that its work continues at once instead of when they expire. Only for a
 * service on the private server, which allows one service at a time. While a command is running, nothing is ended, because some
 * leases may belong to the command.
 */
export async function endAbandonedLeases(pool: Pool): Promise<number> {
  const commands = await numberOf(pool)(
    `select count(*)::int as commands from pg_stat_activity
      where datname = current_database() and application_name like 'innbound command %'`,
  );
  if (commands > 0) return 0;
  const free = (table: string, held: string) =>
    changed(pool)(`update ${table} set due_at = now() where ${held} and due_at > now()`);
  const runs = await free('runs', `state = 'running' and waiting is null`);
  return runs + (await free('outbox', 'leased')) + (await free('alert_sends', 'leased'));
}
