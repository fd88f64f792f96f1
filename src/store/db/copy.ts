import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { type ArchivedTable, DamagedArchive } from '../../kit/archive.ts';
import { isRefusedData } from '../../kit/sql-state.ts';
import { isObject } from '../../terms.ts';
import { checkedRows, type TableColumns } from './checked-rows.ts';
import { type Pool, serviceSchema, type Tx } from './pool.ts';

/** A table as the catalogue describes it, so that a new table or column needs no line here. */
export interface CopiedTable extends TableColumns {
  /** How many rows the planner expects, for progress. */
  readonly estimate: number;
}

/** Every table but the list of migrations, referenced tables before those that refer to them. */
export async function copiedTables(db: Pool | Tx): Promise<CopiedTable[]> {
  const { rows } = await db.query<CopiedTable>(
    `select c.relname as table,
            array(select a.attname::text from pg_attribute a
                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
            array(select format_type(a.atttypid, null) from pg_attribute a
                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as types,
            (select coalesce(sum(greatest(p.reltuples, 0)), 0)::float8 from pg_partition_tree(c.oid) t
               join pg_class p on p.oid = t.relid where t.isleaf) as estimate
       from pg_class c
      where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migrations'
      order by (select count(*) from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'), c.relname`,
    [serviceSchema],
  );
  return rows;
}

const named = (columns: readonly string[]): string => columns.map((name) => `"${name}"`).join(', ');

/** The rows that `where` selects; `from` is the table or what stands for it. */
export async function* copyOut(
  tx: Tx,
  { columns }: CopiedTable,
  from: string,
  where = 'true',
): AsyncGenerator<Uint8Array> {
  const rows = tx.query(copyTo(`copy (select ${named(columns)} from ${from} t where ${where}) to stdout`));
  try {
    yield* rows as AsyncIterable<Uint8Array>;
  } finally {
    endTimer(rows);
  }
}

/**
 * The tables of a file, which must be the expected ones, in their order, each with all of its columns, in any order: a migration adds them at
 * the end. Statements name tables and columns by `expected`, never by the file.
 */
export async function* archivedTables(
  tables: AsyncIterable<ArchivedTable>,
  expected: readonly CopiedTable[],
): AsyncGenerator<CopiedTable & Pick<ArchivedTable, 'rows'>> {
  const left = expected.values();
  for await (const { head, rows } of tables) {
    const { value: one } = left.next();
    const { table, columns = [] } = isObject(head) ? head : {};
    const order = Array.isArray(columns) ? columns.map((name) => one?.columns.indexOf(String(name)) ?? -1) : [];
    const isComplete = order.length === one?.columns.length && one.columns.every((_, at) => order.includes(at));
    if (one?.table !== table || !isComplete) throw new DamagedArchive('its tables are not those of this version');
    const inOrder = (of: readonly string[]) => order.map((at) => of[at] ?? '');
    yield { ...one, columns: inOrder(one.columns), types: inOrder(one.types), rows };
  }
  if (!left.next().done) throw new DamagedArchive('a table is missing');
}

/** Fills a table, or the temporary one that hides it, with rows of a file. */
export async function copyIn(tx: Tx, one: CopiedTable & Pick<ArchivedTable, 'rows'>): Promise<void> {
  const into = tx.query(copyFrom(`copy "${one.table}" (${named(one.columns)}) from stdin`));
  const copied = pipeline(checkedRows(one, one.rows), into).finally(() => endTimer(into));
  await fitting(one.table, copied);
}

/** The database refuses rows that break a type, a key or a rule of the table. Its own message may quote the row. */
export async function fitting<T>(table: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!isRefusedData(error)) throw error;
    throw new DamagedArchive(`a row of the table ${table} does not fit (${(error as { code: string }).code})`);
  });
}

/** pg ends the timer of `query_timeout` in a callback that copy streams do not call: the process would not end before. */
const endTimer = (query: object): void => (query as { callback?: () => void }).callback?.();

/** Which schema the rows belong to: `number hash` of each migration. */
export async function schemaOf(db: Pool | Tx): Promise<string[]> {
  const { rows } = await db.query<{ one: string }>(
    `select number || ' ' || hash as one from migrations order by number`,
  );
  return rows.map(({ one }) => one);
}

export async function hasSchema(db: Pool): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    `${serviceSchema}.store_state`,
  ]);
  return rows[0]?.found === true;
}
