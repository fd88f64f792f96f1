/**
 * Fills the tables with copies of the first reservations under other ids. Their history is past its retention: five receipts for each
 * reservation, without payload, and no versions. Each table is emptied and filled in one transaction with its indexes built at the end: the
 * private server then writes no log for it.
 */
import { type Pool, type Tx, transaction } from '../../src/core/store/db/pool.ts';

export const idOf = (n: number): string => `r${String(n).padStart(9, '0')}`;
const receiptsEach = 5;

/** SQL for each table, which reads `g` (integration, id, copied, n) and the table's first rows `t`. */
const tables = {
  records: `insert into records (integration, type, id, version, effective_at, seq, data, claims, keys)
    select g.integration, t.type, g.id, 1, t.effective_at, t.seq,
           replace(t.data::text, g.copied, g.id)::json, replace(t.claims::text, g.copied, g.id)::json,
           replace(t.keys::text, g.copied, g.id)::tsvector
      from g join t on t.integration = g.integration and t.id = g.copied`,
  outbox: `insert into outbox (integration, destination, type, id, next_version, last_version, delivered_version, fence)
    select g.integration, t.destination, t.type, g.id, 2, 1, 1, 1
      from g join t on t.integration = g.integration and t.id = g.copied`,
  history: `insert into history (integration, type, id, at, effective_at, seq, cause, cause_id, outcome, version)
    select g.integration, 'reservation', g.id, now() - make_interval(days => 100 - 10 * e), now(), g.n, 'event', g.n::text,
           case when e = 1 then 'created' else 'unchanged' end, 1
      from g, generate_series(1, ${receiptsEach}) e`,
} as const;

/** Keeps the rows to copy from in another schema, because filling empties the tables. */
export async function keepFirstRows(pool: Pool): Promise<void> {
  await pool.query('create schema bench');
  for (const table of ['records', 'outbox']) await pool.query(`create table bench.${table} as table ${table}`);
}

/** Returns the seconds that it took. Nodes must not run meanwhile. */
export async function fill(pool: Pool, size: number, brands: number): Promise<number> {
  const startedAt = performance.now();
  await pool.query('truncate attempts, events');
  for (const [table, insert] of Object.entries(tables)) {
    await transaction(pool, async (tx) => {
      await tx.query(`set local maintenance_work_mem = '1GB'`);
      await tx.query(`truncate ${table}`);
      const build = await dropIndexes(tx, table);
      const first = table === 'history' ? '' : `, t as materialized (table bench.${table})`;
      await tx.query(
        `with g as (select 'b' || n % ${brands} as integration, n, 'r' || lpad(n::text, 9, '0') as id,
                           'r' || lpad((n % ${brands})::text, 9, '0') as copied from generate_series(0, ${size - 1}) n)${first}
         ${insert}`,
      );
      for (const sql of build) await tx.query(sql);
    });
    console.log(`  ${table} filled after ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
  return Math.round((performance.now() - startedAt) / 1000);
}

/** Drops all indexes of a table and of its partitions; returns the SQL that creates them again. */
async function dropIndexes(tx: Tx, table: string): Promise<string[]> {
  const { rows } = await tx.query<{ drop: string; create: string }>(
    `select case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
                 else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as drop,
            case when c.oid is null then replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
                 else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) end as create
       from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
      where i.indrelid in (select relid from pg_partition_tree($1) union select $1::regclass)
        and not exists (select from pg_inherits h where h.inhrelid = i.indexrelid)`,
    [table],
  );
  for (const { drop } of rows) await tx.query(drop);
  return rows.map(({ create }) => create);
}

export async function gigabytes(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes');
  return ((rows[0]?.bytes ?? 0) / 1e9).toFixed(1);
}
