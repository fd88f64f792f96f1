import type { CallLimits, Connection, Dialect, Statement } from './dialect.ts';
import { EngineFailure } from './dialect.ts';
import { type Column, listViews, type Table, tables } from './tables.ts';

/** Creates tables, columns and views that are missing. Nothing that exists is changed or removed. */

export interface Change {
  readonly what: string;
  readonly statement: Statement;
}

/** The type of each column, by `table.column`, as the engine reports it. */
export type Existing = ReadonlyMap<string, string>;

export async function existing(
  d: Dialect,
  connection: Connection,
  limits: CallLimits,
): Promise<Existing | 'no_schema'> {
  try {
    const rows = await connection.run([d.columns], limits);
    return new Map(
      rows.map((row) => [
        `${row.table_name}.${row.column_name}`.toLowerCase(),
        (row.data_type ?? '').toLowerCase().replace(/^nullable\((.*)\)$/, '$1'),
      ]),
    );
  } catch (error) {
    if (error instanceof EngineFailure && error.meaning === 'missing') return 'no_schema';
    throw error;
  }
}

/** The statements that bring the schema to this version, in order. */
export function changes(d: Dialect, found: Existing | 'no_schema'): Change[] {
  const known: Existing = found === 'no_schema' ? new Map() : found;
  const create =
    known.size === 0 && d.createSchema !== undefined ? [{ what: 'schema', statement: { sql: d.createSchema } }] : [];
  const ofTables = Object.values(tables).flatMap((table: Table) => {
    const missing = table.columns.filter(({ name }) => !known.has(`${table.name}.${name}`));
    if (missing.length === table.columns.length)
      return [{ what: `table ${table.name}`, statement: { sql: tableSql(d, table) } }];
    return missing.map((column) => ({
      what: `column ${table.name}.${column.name}`,
      statement: { sql: (d.addColumn ?? addColumn)(d.table(table.name), optionalColumn(d, column)) },
    }));
  });
  const ofViews = listViews.flatMap(({ name, columns }) => {
    const isComplete = columns.every((column) => known.has(`${name}.${column.name}`));
    return isComplete ? [] : [{ what: `view ${name}`, statement: { sql: viewSql(d, name, columns) } }];
  });
  return [...create, ...ofTables, ...ofViews];
}

const addColumn = (table: string, definition: string): string => `ALTER TABLE ${table} ADD COLUMN ${definition}`;
const createView = (name: string, select: string): string => `CREATE OR REPLACE VIEW ${name} AS ${select}`;
const createTable = (name: string, body: string): string => `CREATE TABLE IF NOT EXISTS ${name} ${body}`;

const optionalColumn = (d: Dialect, { name, kind }: Column): string =>
  `${d.quote(name)} ${(d.optional ?? ((type) => type))(d.types[kind])}`;

function tableSql(d: Dialect, table: Table): string {
  const columns = table.columns.map((column) =>
    table.key.includes(column.name)
      ? `${d.quote(column.name)} ${d.types[column.kind]}${d.required ?? ' NOT NULL'}`
      : optionalColumn(d, column),
  );
  return (d.createTable ?? createTable)(d.table(table.name), `(${columns.join(', ')}${d.layout(table)}`);
}

function viewSql(d: Dialect, name: string, columns: readonly Column[]): string {
  const { from, position } = d.items(name, columns);
  const own = ['integration', 'id'].map(
    (key) => `t.${d.quote(key)} AS ${d.quote(key === 'id' ? 'reservation_id' : key)}`,
  );
  const fields = columns.map((column) => `${d.field(column)} AS ${d.quote(column.name)}`);
  const select = `SELECT ${[...own, `${position} AS ${d.quote('position')}`, ...fields].join(', ')}
FROM ${d.stored?.('reservations') ?? d.table('reservations')} t ${from} WHERE t.${d.quote('removed_at')} IS NULL`;
  return (d.createView ?? createView)(d.table(name), select);
}

/**
 * Columns to which somebody gave another type than the other columns of their kind have. The engine may still take most values. Engines name
 * types in many ways, so the names are compared with each other only.
 */
export function mistyped(d: Dialect, found: Existing): string[] {
  const ours = [...Object.values(tables), ...listViews].flatMap(({ name: table, columns }) =>
    columns.flatMap(({ name, kind }: Column) => {
      const is = word(found.get(`${table}.${name}`) ?? '');
      return is === '' ? [] : [{ place: `${table}.${name}`, kind, is, isOfTable: Object.hasOwn(tables, table) }];
    }),
  );
  return [...Map.groupBy(ours, ({ kind }) => kind)].flatMap(([kind, columns]) => {
    const counts = [...Map.groupBy(columns, ({ is }) => is)].sort(([, a], [, b]) => b.length - a.length);
    const usual = counts[0]?.[0];
    const others = columns.filter(({ is, isOfTable }) => isOfTable && is !== usual);
    return others.map(({ place, is }) => `${place} is ${is} instead of ${d.types[kind]}`);
  });
}

const word = (type: string): string => /^[a-z0-9_ ]+/.exec(type)?.[0].trim() ?? '';
