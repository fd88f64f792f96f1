import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { type ArchivedTable, DamagedArchive } from '../../../kit/archive.ts';
import { isTooDeep, parseJson } from '../../../kit/json.ts';
import { isRefusedData } from '../../../kit/sql-state.ts';
import { isDocumentName, isObject } from '../../../terms.ts';
import { columnOf, hitsOne, type Pool, rowsOf, serviceSchema, type Tx } from './pool.ts';
import { storedJson } from './stored-json.ts';

/** A table as the catalogue describes it, so that a new table or column needs no line here. */
export interface CopiedTable extends TableColumns {
  /** How many rows the planner expects, for progress. */
  readonly estimate: number;
}

/** Every table but the list of migrations, referenced tables before those that refer to them. */
export const copiedTables = (db: Pool | Tx): Promise<CopiedTable[]> =>
  rowsOf(db)(
    `select c.relname as table,
            array(select a.attname::text from pg_attribute a
                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
            array(select format_type(a.atttypid, null) from pg_attribute a
                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as types,
            (select coalesce(sum(greatest(p.reltuples, 0)), 0)::float8 from pg_partition_tree(c.oid) t
               join pg_class p on p.oid = t.relid where t.isleaf) as estimate
       from pg_class c
      where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and c.relpersistence = 'p' and not c.relispartition and c.relname <> 'migrations'
      order by (select count(*) from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'), c.relname`,
    [serviceSchema],
  );

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
export const schemaOf = (db: Pool | Tx): Promise<string[]> =>
  columnOf(db)(`select number || ' ' || hash as one from migrations order by number`);

export const hasSchema = (db: Pool): Promise<boolean> =>
  hitsOne(db)('select where to_regclass($1) is not null', [`${serviceSchema}.store_state`]);

interface TableColumns {
  readonly table: string;
  readonly columns: readonly string[];
  /** Of the columns, as PostgreSQL names them. */
  readonly types: readonly string[];
}

/**
 * Rows of a file, in COPY's text format, checked before the database gets them: each has the columns of its table, written as COPY itself
 * writes them, with values that the service can read again. The database checks the rest: its types accept more than the service reads.
 */
export async function* checkedRows(table: TableColumns, rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const lines of rows) {
    if (!isUtf8(lines) || lines.includes(0) || lines.includes(13)) throw unfit(table.table, 'text');
    for (const line of lines.toString('utf8', 0, lines.length - 1).split('\n')) checkRow(table, line);
    yield lines;
  }
}

const unfit = (table: string, column: string): DamagedArchive =>
  new DamagedArchive(`a row of the table ${table} does not fit (${column})`);

function checkRow({ table, columns, types }: TableColumns, line: string): void {
  const fields = line.split('\t');
  if (fields.length !== columns.length) throw unfit(table, 'number of columns');
  const field = (column: string): string | null => {
    const value = fields[columns.indexOf(column)];
    return value === undefined || value === '\\N' ? null : (unescaped(value) ?? null);
  };
  for (const [at, column] of columns.entries()) {
    if (fields[at] === '\\N') continue;
    const text = unescaped(fields[at] ?? '');
    if (text === undefined || !isReadable(types[at] ?? '', text) || !isContent(table, column, text, field)) {
      throw unfit(table, column);
    }
  }
}

const escapes = new Map(Object.entries({ '\\': '\\', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }));

/** Undefined for escapes that COPY reads and never writes, such as \x41. */
function unescaped(text: string): string | undefined {
  if (!text.includes('\\')) return text;
  let isSound = true;
  const plain = text.replace(/\\(.?)/gs, (_, sign: string) => {
    isSound &&= escapes.has(sign);
    return escapes.get(sign) ?? '';
  });
  return isSound ? plain : undefined;
}

const instant = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00$/;
/** The driver's parser of text[], whose number its types do not know. */
const readList = pg.types.getTypeParser(1009 as never, 'text') as (text: string) => readonly unknown[];

/** Whether the driver reads a value of this type as the code expects: no infinity, no number that loses digits, no list in a list. */
function isReadable(type: string, text: string): boolean {
  switch (type) {
    case 'timestamp with time zone':
      return instant.test(text);
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(text);
    case 'bytea':
      return /^\\x[0-9a-f]*$/.test(text);
    case 'bigint':
      return Number.isSafeInteger(Number(text));
    case 'double precision':
      return Number.isFinite(Number(text));
    case 'text[]':
    case 'integer[]':
      return isFlatList(text);
    default:
      return true;
  }
}

function isFlatList(text: string): boolean {
  try {
    return readList(text).every((one) => typeof one === 'string');
  } catch {
    return false;
  }
}

/** As deep as limits.json_depth allows, and the wrapping of our own. */
const deepest = 600;

function isContent(table: string, column: string, text: string, field: (column: string) => string | null): boolean {
  const place = `${table}.${column}`;
  if (place === 'documents.name') return isDocumentName(text);
  if (place === 'events.body' || place === 'events.hydrated') return isUtf8(Buffer.from(text.slice(2), 'hex'));
  const content = storedJson.get(place);
  if (content === undefined) return true;
  try {
    const value = parseJson(text);
    return !isTooDeep(value, deepest) && content(value, text, field);
  } catch {
    return false;
  }
}
