import { type Dialect, jsonOf, names, newer, onKeys, settable, sourceSql } from '../../warehouse/dialect.ts';
import { placeOf } from '../../warehouse/place.ts';
import type { Kind, Table } from '../../warehouse/tables.ts';
import { warehouseType } from '../../warehouse/type.ts';
import { mysqlConnection } from './connection.ts';
import { type Settings, settingsSchema } from './settings.ts';

const quote = (name: string) => `\`${name}\``;

const types: Record<Kind, string> = {
  key: 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
  text: 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
  int: 'INT',
  decimal: 'DECIMAL(38,9)',
  date: 'DATE',
  time: 'DATETIME(3)',
  boolean: 'BOOLEAN',
  json: 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
};

/** A column of the view: text from JSON, cast afterwards. */
const casts: Partial<Record<Kind, (value: string) => string>> = {
  int: (value) => `CAST(${value} AS SIGNED)`,
  decimal: (value) => `CAST(${value} AS DECIMAL(38,9))`,
  date: (value) => `CAST(${value} AS DATE)`,
  // MySQL writes a JSON boolean as text, MariaDB as a number.
  boolean: (value) => `(${value} IN ('true', '1'))`,
};

/** JSON_TABLE turns a bad date into 0000-00-00 and a bad amount into 0, so every column is text, which the strict INSERT casts. */
const column = (name: string, type = 'LONGTEXT') => `${quote(name)} ${type} CHARACTER SET utf8mb4 PATH '$.${name}'`;

/** The engine casts each text to its column. A doubled quote ends no text, whether or not the session reads a backslash as an escape. */
function literal(text: string | undefined, kind: Kind): string {
  if (text === undefined) return 'NULL';
  if (kind === 'boolean') return text === 'true' ? '1' : '0';
  const plain = kind === 'time' ? text.replace('T', ' ').replace('Z', '') : text;
  return `'${plain.replace(/['\\]/g, '$&$&')}'`;
}

const dialect: Dialect = {
  quote,
  table: quote,
  types,
  rows: (columns) => `JSON_TABLE(?, '$[*]' COLUMNS (${columns.map(({ name }) => column(name)).join(', ')})) r`,
  cell({ name, kind }) {
    const cell = `r.${quote(name)}`;
    if (kind === 'time') return `REPLACE(REPLACE(${cell}, 'T', ' '), 'Z', '')`;
    // Not the value itself: the coercion of an operand would give a false for a misspelling.
    if (kind === 'boolean') return `CASE ${cell} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE ${cell} END`;
    // Compared as the stored keys are.
    return kind === 'key' ? `CONVERT(${cell} USING utf8mb4) COLLATE utf8mb4_bin` : cell;
  },
  // As literals they take a third of the time of JSON_TABLE (bench warehouses, MariaDB 10.11).
  encode(row, columns) {
    let list = '(';
    for (const { name, kind } of columns) list += `${list.length === 1 ? '' : ','}${literal(row[name], kind)}`;
    return `${list})`;
  },
  merge(table: Table, columns, how, rows) {
    const target = dialect.table(table.name);
    const source = `(${sourceSql(dialect, columns)}) s`;
    const others = settable(table, columns);
    if (how === 'present') {
      const set = others.map(({ name }) => `t.${quote(name)} = s.${quote(name)}`).join(', ');
      return [
        {
          sql: `UPDATE ${target} t JOIN ${source} ON ${onKeys(dialect, table)} SET ${set}`,
          values: { rows: jsonOf(rows) },
        },
      ];
    }
    // Assigned from left to right, and the comparison reads version and epoch: they come last. MariaDB has no alias for the new row.
    const isRank = (name: string) => name === 'epoch' || name === 'version';
    const ordered = [
      ...others.filter(({ name }) => !isRank(name)),
      ...others.filter(({ name }) => name === 'version'),
      ...others.filter(({ name }) => name === 'epoch'),
    ];
    const isNewer = newer(dialect)
      .replace(/\bt\./g, `${target}.`)
      .replace(/\bs\.(`\w+`)/g, 'VALUES($1)');
    const set = ordered.map(({ name }) => {
      const [stored, value] = [`${target}.${quote(name)}`, `VALUES(${quote(name)})`];
      return `${stored} = ${how === 'newest' ? `IF(${isNewer}, ${value}, ${stored})` : value}`;
    });
    const [key = ''] = table.key;
    const update = how === 'once' ? [`${target}.${quote(key)} = ${target}.${quote(key)}`] : set;
    const insert = `INSERT INTO ${target} (${names(dialect, columns)})`;
    const onDuplicate = `ON DUPLICATE KEY UPDATE ${update.join(', ')}`;
    if (rows.cells.length === 0) {
      const sql = `${insert} SELECT ${names(dialect, columns, 's.')} FROM ${source} ${onDuplicate}`;
      return [{ sql, values: { rows: '[]' } }];
    }
    return [{ sql: `${insert} VALUES ${rows.texts.join(',')} ${onDuplicate}` }];
  },
  jsonText: (name) => name,
  digest: {
    text: (cell, kind) =>
      kind === 'boolean'
        ? `CASE ${cell} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END`
        : `CAST(${cell} AS CHAR CHARACTER SET utf8mb4)`,
    of: (texts) => `SHA2(${texts}, 256)`,
  },
  layout: ({ key, name }) => {
    const index = name === 'reservation_versions' ? ', KEY changed_at (changed_at)' : '';
    return `, PRIMARY KEY (${key.map(quote).join(', ')})${index}) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`;
  },
  items: (list, columns) => ({
    from: `CROSS JOIN JSON_TABLE(t.${quote(list)}, '$[*]' COLUMNS (n FOR ORDINALITY, ${columns
      .map(({ name, kind }) =>
        column(name, kind === 'json' ? 'JSON' : undefined).replace(kind === 'json' ? ' CHARACTER SET utf8mb4' : '', ''),
      )
      .join(', ')})) e`,
    position: 'e.n - 1',
  }),
  field: ({ name, kind }) => (casts[kind] ?? ((value: string) => value))(`e.${quote(name)}`),
  columns: {
    sql: 'SELECT table_name AS table_name, column_name AS column_name, data_type AS data_type FROM information_schema.columns WHERE table_schema = DATABASE()',
  },
  // Below the least max_allowed_packet in use, 16 MB.
  mostBytes: 8_000_000,
};

export const destinationType = warehouseType<Settings>({
  type: 'mysql',
  settings: settingsSchema,
  batch: { standard: 2_000, most: 10_000 },
  timeoutMs: 120_000,
  connect: (settings, services) => ({ dialect, connection: mysqlConnection(settings, services) }),
  grants: ({ url }) => {
    const { user, database } = placeOf(url);
    return [
      `CREATE DATABASE IF NOT EXISTS ${quote(database)} CHARACTER SET utf8mb4;`,
      `GRANT SELECT, INSERT, UPDATE, CREATE, ALTER, DROP, INDEX, CREATE VIEW, SHOW VIEW ON ${quote(database)}.* TO '${user}'@'%';`,
    ];
  },
});
