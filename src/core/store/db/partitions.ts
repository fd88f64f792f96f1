import { isSqlState } from '../../../kit/sql-state.ts';
import { cellOf, onlyRow, type Pool, type Tx, transaction } from './pool.ts';

/**
 * The history is partitioned by month: few partitions make lookups by record cheap, and retention drops whole ones. `events` and `runs` are
 * not, because both need a unique key that time partitions cannot enforce.
 *
 * Entries `p` that outlive the retention move to the default partition before theirs is dropped: erasures whose confirmation is open, and
 * versions that wait, which consent-filtered destinations compare with the one delivered last.
 */
const needed = `(p.cause = 'erasure' and exists (select from erasures e where e.erasure_id = p.cause_id and e.confirmed_at is null))
             or (p.diff is not null and exists (
               select from outbox o where o.integration = p.integration and o.id = p.id and o.type = p.type
                  and o.next_version <= o.last_version and p.version >= o.delivered_version))`;

interface Partition {
  readonly name: string;
  /** Undefined: from the beginning of time. */
  readonly from?: Date;
  readonly to: Date;
}

/** The partitions, oldest first, without the default one. */
export async function partitions(db: Pick<Pool, 'query'>): Promise<Partition[]> {
  const { rows } = await db.query<{ name: string; bound: string }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
       from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'history'::regclass`,
  );
  return rows
    .flatMap(({ name, bound }): Partition[] => {
      const [, from, to] = /FROM \((?:MINVALUE|'([^']+)')\) TO \('([^']+)'\)/.exec(bound) ?? [];
      if (to === undefined) return [];
      return [{ name, ...(from !== undefined && { from: new Date(from) }), to: new Date(to) }];
    })
    .sort((a, b) => a.to.getTime() - b.to.getTime());
}

/** Nodes take turns: the lock ends with the transaction. */
async function alone(pool: Pool, work: (tx: Tx) => Promise<number>): Promise<number> {
  try {
    return await transaction(pool, async (tx) => {
      if (!(await cellOf(tx)(`select pg_try_advisory_xact_lock(hashtextextended('partitions', 0))`))) return 0;
      // Later statements queue behind our lock request: give up and retry rather than block them behind a long reader.
      await tx.query(`set local lock_timeout = '1s'`);
      return work(tx);
    });
  } catch (error) {
    if (isSqlState(error, 'lockNotAvailable')) return 0;
    throw error;
  }
}

/** Makes partitions for the present month and the two after it. Returns how many were made. */
export async function makePartitions(pool: Pool): Promise<number> {
  for (let made = 0; ; made++) if ((await alone(pool, makeNext)) === 0) return made;
}

async function makeNext(tx: Tx): Promise<number> {
  const newest = (await partitions(tx)).at(-1);
  const next = await onlyRow(tx)<{ due: boolean; to: string; name: string }>(
    `select $1::timestamptz is null or $1 < date_trunc('month', now()) + interval '3 months' as due,
            (date_trunc('month', coalesce($1, now())) + interval '1 month')::text as to,
            'history_' || to_char(coalesce($1, date_trunc('month', now())), 'YYYYMMDD') as name`,
    [newest?.to],
  );
  if (!next.due) return 0;
  // The first partition has no beginning.
  const from = newest === undefined ? undefined : `'${newest.to.toISOString()}'`;
  await tx.query(`create table ${next.name} (like history including defaults including constraints)`);
  // Finds rows only if all nodes were stopped for a whole month, or if a clock ran ahead.
  await tx.query(
    `with late as (delete from history_kept where at >= ${from ?? `'-infinity'`} and at < '${next.to}' returning *)
     insert into ${next.name} select * from late`,
  );
  await tx.query(
    `alter table history attach partition ${next.name} for values from (${from ?? 'minvalue'}) to ('${next.to}')`,
  );
  return 1;
}

/** Drops partitions whose newest entry is past its retention. Entries that work still needs are kept. Returns how many were dropped. */
export async function dropPartitions(pool: Pool, keptMs: number): Promise<number> {
  const { before } = await onlyRow(pool)<{ before: Date }>(`select now() - $1 * interval '1 ms' as before`, [keptMs]);
  await pool.query(`delete from history_kept p where p.at < $1 and not (${needed})`, [before]);
  let dropped = 0;
  for (const { name, to } of await partitions(pool)) {
    if (to > before) break;
    dropped += await alone(pool, async (tx) => {
      // Waits for erasures and deliveries in progress; later ones find the rows in the default partition.
      await tx.query(`lock table ${name} in share row exclusive mode`);
      await tx.query(`create table ${name}_needed as select p.* from ${name} p where ${needed}`);
      // From here on the whole table is locked, only for the time it takes to change a few catalogue rows.
      await tx.query(`alter table history detach partition ${name}`);
      await tx.query(`insert into history select * from ${name}_needed`);
      await tx.query(`drop table ${name}, ${name}_needed`);
      return 1;
    });
  }
  return dropped;
}

/** Since when the history is complete; undefined if nothing was ever dropped. */
export async function completeSince(db: Pick<Pool, 'query'>): Promise<Date | undefined> {
  return (await partitions(db))[0]?.from;
}
