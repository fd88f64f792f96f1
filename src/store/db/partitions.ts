import { isSqlState } from '../../kit/sql-state.ts';
import { type Pool, type Tx, transaction } from './pool.ts';

interface Partitioned {
  /** The column whose time decides the partition. */
  readonly time: string;
  /** How much time one partition covers: few partitions make lookups by record cheap, many make retention exact. */
  readonly width: 'week' | 'month';
  /** Rows `p` that outlive the retention: they move to the default partition before theirs is dropped. */
  readonly needed?: string;
}

/** The large tables of history. `events` and `runs` are not among them: both need a unique key that time partitions cannot enforce. */
const tables = {
  history: {
    time: 'at',
    width: 'month',
    // Erasures whose confirmation is open. Versions that wait; consent-filtered destinations compare them with the one delivered last.
    needed: `(p.cause = 'erasure' and exists (select from erasures e where e.erasure_id = p.cause_id and e.confirmed_at is null))
             or (p.diff is not null and exists (
               select from outbox o where o.integration = p.integration and o.id = p.id and o.type = p.type
                  and o.next_version <= o.last_version and p.version >= o.delivered_version))`,
  },
  attempts: { time: 'at', width: 'week' },
} as const satisfies Record<string, Partitioned>;

export type PartitionedTable = keyof typeof tables;

const ofTable = (name: PartitionedTable): Partitioned => tables[name];

export interface Partition {
  readonly name: string;
  /** Undefined: from the beginning of time. */
  readonly from?: Date;
  readonly to: Date;
}

/** The partitions of a table, oldest first, without the default one. */
export async function partitionsOf(db: Pick<Pool, 'query'>, table: PartitionedTable): Promise<Partition[]> {
  const { rows } = await db.query<{ name: string; bound: string }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
       from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass`,
    [table],
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
      const { rows } = await tx.query<{ mine: boolean }>(
        `select pg_try_advisory_xact_lock(hashtextextended('partitions', 0)) as mine`,
      );
      if (rows[0]?.mine !== true) return 0;
      // Later statements queue behind our lock request: give up and retry rather than block them behind a long reader.
      await tx.query(`set local lock_timeout = '1s'`);
      return work(tx);
    });
  } catch (error) {
    if (isSqlState(error, 'lockNotAvailable')) return 0;
    throw error;
  }
}

/** Makes partitions for the present period and the two after it. Returns how many were made. */
export async function makePartitions(pool: Pool): Promise<number> {
  let made = 0;
  for (const table of Object.keys(tables) as PartitionedTable[]) {
    const { time, width } = ofTable(table);
    for (;;) {
      const one = await alone(pool, async (tx) => {
        const newest = (await partitionsOf(tx, table)).at(-1);
        const { rows } = await tx.query<{ due: boolean; to: string; name: string }>(
          `select $1::timestamptz is null or $1 < date_trunc($2, now()) + 3 * ('1 ' || $2)::interval as due,
                  (date_trunc($2, coalesce($1, now())) + ('1 ' || $2)::interval)::text as to,
                  $3 || '_' || to_char(coalesce($1, date_trunc($2, now())), 'YYYYMMDD') as name`,
          [newest?.to, width, table],
        );
        const next = rows[0];
        if (next?.due !== true) return 0;
        // The first partition has no beginning.
        const from = newest === undefined ? undefined : `'${newest.to.toISOString()}'`;
        await tx.query(`create table ${next.name} (like ${table} including defaults including constraints)`);
        // Finds rows only if all nodes were stopped for a whole period, or if a clock ran ahead.
        await tx.query(
          `with late as (delete from ${table}_kept where ${time} >= ${from ?? `'-infinity'`} and ${time} < '${next.to}' returning *)
           insert into ${next.name} select * from late`,
        );
        await tx.query(
          `alter table ${table} attach partition ${next.name} for values from (${from ?? 'minvalue'}) to ('${next.to}')`,
        );
        return 1;
      });
      made += one;
      if (one === 0) break;
    }
  }
  return made;
}

/** Drops partitions whose newest row is past its retention. Rows that work still needs are kept. Returns how many were dropped. */
export async function dropPartitions(pool: Pool, table: PartitionedTable, keptMs: number): Promise<number> {
  const { time, needed = 'false' } = ofTable(table);
  const { rows } = await pool.query<{ before: Date }>(`select now() - $1 * interval '1 ms' as before`, [keptMs]);
  const before = rows[0]?.before ?? new Date(0);
  const gone = `p.${time} < $1 and not (${needed})`;
  await pool.query(`delete from ${table}_kept p where ${gone}`, [before]);
  let dropped = 0;
  for (const { name, to } of await partitionsOf(pool, table)) {
    if (to > before) break;
    dropped += await alone(pool, async (tx) => {
      // Waits for erasures and deliveries in progress; later ones find the rows in the default partition.
      await tx.query(`lock table ${name} in share row exclusive mode`);
      await tx.query(`create table ${name}_needed as select p.* from ${name} p where ${needed}`);
      // From here on the whole table is locked, only for the time it takes to change a few catalogue rows.
      await tx.query(`alter table ${table} detach partition ${name}`);
      await tx.query(`insert into ${table} select * from ${name}_needed`);
      await tx.query(`drop table ${name}, ${name}_needed`);
      return 1;
    });
  }
  return dropped;
}

/** Since when a table is complete; undefined if nothing was ever dropped. */
export async function completeSince(db: Pick<Pool, 'query'>, table: PartitionedTable): Promise<Date | undefined> {
  return (await partitionsOf(db, table))[0]?.from;
}
