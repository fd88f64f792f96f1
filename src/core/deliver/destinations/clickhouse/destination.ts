import { type Connection, type Dialect, type Erased, names, type Statement } from '../../warehouse/dialect.ts';
import { placeOf } from '../../warehouse/place.ts';
import type { Kind } from '../../warehouse/tables.ts';
import { warehouseType } from '../../warehouse/type.ts';
import { clickhouseConnection } from './connection.ts';
import { type Settings, settingsSchema } from './settings.ts';

const quote = (name: string) => `\`${name}\``;

const types: Record<Kind, string> = {
  key: 'String',
  text: 'String',
  int: 'Int32',
  decimal: 'Decimal(38,9)',
  date: 'Date32',
  time: `DateTime64(3,'UTC')`,
  boolean: 'Bool',
  json: 'String',
};

const optional = (type: string) => `Nullable(${type})`;
/** The newest version of each key, although the engine merges its parts later. */
const stored = (name: string) => `(SELECT * FROM ${quote(name)} FINAL)`;
const rank = 'toUInt64(assumeNotNull(epoch)) * 4294967296 + toUInt64(assumeNotNull(version))';
/**
 * Parts that a mutation replaced, which may still hold an erased guest, are kept for eight minutes by default. They go within seconds, and
 * new ones are on disk before.
 */
const settings =
  'old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 2, merge_tree_clear_old_parts_interval_seconds = 1, fsync_after_insert = 1, min_rows_to_fsync_after_merge = 1, fsync_part_directory = 1';

const dialect: Dialect = {
  quote,
  table: quote,
  types,
  required: '',
  optional,
  rows: () => '(SELECT arrayJoin(JSONExtractArrayRaw({rows:String})) AS r)',
  cell: ({ name, kind }) =>
    kind === 'int' ? `toInt32(JSONExtractString(r, '${name}'))` : `JSONExtractString(r, '${name}')`,
  // A boolean must be one of JSON; everything else may be text.
  encode(row, columns) {
    const flags = columns.flatMap(({ name, kind }) =>
      kind === 'boolean' && row[name] !== undefined ? [[name, row[name] === 'true'] as const] : [],
    );
    return JSON.stringify(flags.length === 0 ? row : { ...row, ...Object.fromEntries(flags) });
  },
  // An insert is enough: of several rows with one key the engine keeps the one with the highest rank.
  merge(table, columns, how, rows) {
    if (how !== 'present') {
      const sql = `INSERT INTO ${quote(table.name)} (${names(dialect, columns)}) FORMAT JSONEachRow`;
      return [{ sql, values: { body: rows.texts.join('\n') } }];
    }
    return rows.cells.map((cells): Statement => {
      const [keys, others] = [true, false].map((isKey) =>
        columns.filter(({ name }) => table.key.includes(name) === isKey),
      );
      const set = (others ?? []).map(({ name }) => `${quote(name)} = {${name}:Nullable(String)}`).join(', ');
      const where = (keys ?? []).map(({ name, kind }) => `${quote(name)} = {${name}:${types[kind]}}`).join(' AND ');
      const values = Object.fromEntries(columns.map(({ name }) => [name, cells[name] ?? null]));
      return {
        sql: `ALTER TABLE ${quote(table.name)} UPDATE ${set} WHERE ${where} SETTINGS mutations_sync = 2`,
        values,
      };
    });
  },
  jsonText: (column) => column,
  layout({ key, replaces, name }) {
    const order = `ORDER BY (${key.join(', ')}) SETTINGS ${settings}`;
    if (replaces === 'newest') return `, rank UInt64 MATERIALIZED ${rank}) ENGINE = ReplacingMergeTree(rank) ${order}`;
    const partition = name === 'reservation_versions' ? ' PARTITION BY toYYYYMM(assumeNotNull(changed_at))' : '';
    return `) ENGINE = ReplacingMergeTree${partition} ${order}`;
  },
  createSchema: 'CREATE DATABASE IF NOT EXISTS {database:Identifier}',
  addColumn: (table, definition) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${definition}`,
  stored,
  items: (list) => {
    const array = `JSONExtractArrayRaw(ifNull(t.${quote(list)}, '[]'))`;
    return { from: `ARRAY JOIN ${array} AS e, arrayEnumerate(${array}) AS n`, position: 'toInt32(n - 1)' };
  },
  field({ name, kind }) {
    if (kind === 'json') return `nullIf(JSONExtractRaw(e, '${name}'), '')`;
    if (kind === 'date') return `toDate32OrNull(JSONExtractString(e, '${name}'))`;
    return `JSONExtract(e, '${name}', 'Nullable(${types[kind]})')`;
  },
  columns: {
    sql: 'SELECT table AS table_name, name AS column_name, type AS data_type FROM system.columns WHERE database = currentDatabase()',
  },
  mostBytes: 10_000_000,
  purge,
};

/**
 * The row of the erasure replaces the older ones only when the engine merges them, and it keeps merged parts for a while. So older rows are
 * deleted, and the erasure is done when no part from before is left.
 */
async function purge(connection: Connection, limits: Parameters<Connection['run']>[1], { table, rows, memo }: Erased) {
  const [{ integration = '', id = '', epoch = '', version = '' } = {}] = rows.cells;
  const run = async (sql: string, values: Statement['values'] = {}) =>
    (await connection.run([{ sql, values }], limits))[0] ?? {};
  if (!memo.has('deleted_at')) {
    const where = 'integration = {integration:String} AND id = {id:String}';
    await run(
      `ALTER TABLE ${quote(table.name)} DELETE WHERE ${where} AND rank < toUInt64({epoch:UInt32}) * 4294967296 + {version:UInt32} SETTINGS mutations_sync = 2`,
      { integration, id, epoch, version },
    );
    memo.set('deleted_at', (await run('SELECT toString(now()) AS at')).at ?? '');
  }
  const { parts } = await run(
    `SELECT toString(count()) AS parts FROM system.parts WHERE database = currentDatabase() AND table IN ('${table.name}', 'reservation_versions') AND NOT active AND modification_time <= toDateTime({at:String})`,
    { at: memo.get('deleted_at') ?? '' },
  );
  return !(Number(parts) > 0);
}

export const destinationType = warehouseType<Settings>({
  type: 'clickhouse',
  settings: settingsSchema,
  // Each insert makes a part; more than one a second is too many.
  batch: { standard: 5_000, most: 10_000, waitMs: 1_000 },
  timeoutMs: 120_000,
  connect: (of, services) => ({ dialect, connection: clickhouseConnection(of, services) }),
  grants({ url }) {
    const { user, database } = placeOf(url);
    return [
      `CREATE DATABASE IF NOT EXISTS ${database};`,
      `GRANT SELECT, INSERT, CREATE TABLE, CREATE VIEW, ALTER ADD COLUMN, ALTER UPDATE, ALTER DELETE, DROP VIEW ON ${database}.* TO ${user};`,
      `GRANT SELECT ON system.columns TO ${user}; GRANT SELECT ON system.parts TO ${user};`,
    ];
  },
});
