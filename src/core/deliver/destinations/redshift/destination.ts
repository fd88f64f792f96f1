import { type Dialect, names, onKeys, type Statement, settable } from '../../warehouse/dialect.ts';
import { pgConnection } from '../../warehouse/pg.ts';
import { placeOf } from '../../warehouse/place.ts';
import type { Cells, Column, Kind } from '../../warehouse/tables.ts';
import { warehouseType } from '../../warehouse/type.ts';
import { type Settings, settingsSchema } from './settings.ts';

const quote = (name: string) => `"${name}"`;

const types: Record<Kind, string> = {
  key: 'VARCHAR(255)',
  text: 'VARCHAR(65535)',
  int: 'INTEGER',
  decimal: 'DECIMAL(38,9)',
  date: 'DATE',
  time: 'TIMESTAMPTZ',
  boolean: 'BOOLEAN',
  json: 'SUPER',
};

/** Parameters of one statement: the protocol counts them in 15 bits. */
const mostParameters = 30_000;

const stage = 'innbound_stage';

/** A parameter cannot be unpacked, and COPY reads buckets only: rows become parameters of INSERT, into a temporary table. */
function staged(columns: readonly Column[], cells: readonly Cells[]): Statement[] {
  const definition = columns.map(({ name, kind }) => `${quote(name)} ${types[kind]}`).join(', ');
  const statements: Statement[] = [
    { sql: `DROP TABLE IF EXISTS ${stage}` },
    { sql: `CREATE TEMP TABLE ${stage} (${definition})` },
  ];
  const most = Math.floor(mostParameters / columns.length);
  for (let from = 0; from < cells.length; from += most) {
    const values: Record<string, string | null> = {};
    const lists = cells.slice(from, from + most).map((row, i) => {
      const places = columns.map(({ name, kind }, j) => {
        values[`${i}.${name}`] = row[name] ?? null;
        const place = `$${i * columns.length + j + 1}`;
        // A cast to VARCHAR would cut a text without an error.
        if (kind === 'key' || kind === 'text') return place;
        return kind === 'json' ? `JSON_PARSE(${place})` : `${place}::${types[kind]}`;
      });
      return `(${places.join(', ')})`;
    });
    statements.push({ sql: `INSERT INTO ${stage} VALUES ${lists.join(', ')}`, values });
  }
  return statements;
}

const dialectOf = (schema: string): Dialect => {
  const dialect: Dialect = {
    quote,
    table: (name) => `${quote(schema)}.${quote(name)}`,
    types,
    rows: () => stage,
    cell: ({ name }) => `${stage}.${quote(name)}`,
    // MERGE has no condition and no ON CONFLICT exists: within one transaction, under a lock, older rows give way to newer ones.
    merge(table, columns, how, { cells }) {
      const target = dialect.table(table.name);
      const own = quote(table.name);
      const on = onKeys(dialect, table, own, stage);
      const [stored, row] = [(name: string) => `${own}.${quote(name)}`, (name: string) => `${stage}.${quote(name)}`];
      const older = `(${row('epoch')} < ${stored('epoch')} OR (${row('epoch')} = ${stored('epoch')} AND ${row('version')} < ${stored('version')}))`;
      const set = settable(table, columns)
        .map(({ name }) => `${quote(name)} = ${row(name)}`)
        .join(', ');
      const insert = `INSERT INTO ${target} (${names(dialect, columns)}) SELECT ${names(dialect, columns)} FROM ${stage}`;
      const replace = [`DELETE FROM ${target} USING ${stage} WHERE ${on}`, insert];
      const steps = {
        newest: [`DELETE FROM ${stage} USING ${target} WHERE ${on} AND ${older}`, ...replace],
        always: replace,
        once: [`DELETE FROM ${stage} USING ${target} WHERE ${on}`, insert],
        present: [`UPDATE ${target} SET ${set} FROM ${stage} WHERE ${on}`],
      }[how];
      return [{ sql: `LOCK ${target}` }, ...staged(columns, cells), ...steps.map((sql) => ({ sql }))];
    },
    stage: (columns, { cells }) => staged(columns, cells),
    jsonText: (column) => `JSON_SERIALIZE(${column})`,
    // Distribution and sort keys are left to the engine, which chooses them by use.
    layout: ({ key }) => `, PRIMARY KEY (${key.map(quote).join(', ')}))`,
    createSchema: `CREATE SCHEMA IF NOT EXISTS ${quote(schema)}`,
    items: (list) => ({ from: `, t.${quote(list)} AS e AT n`, position: 'CAST(n AS INTEGER)' }),
    field: ({ name, kind }) => (kind === 'json' ? `e.${quote(name)}` : `CAST(e.${quote(name)} AS ${types[kind]})`),
    columns: {
      sql: `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = '${schema}'`,
    },
    mostBytes: 12_000_000,
  };
  return dialect;
};

export const destinationType = warehouseType<Settings>({
  type: 'redshift',
  settings: settingsSchema,
  // Many small commits leave much to vacuum.
  batch: { standard: 5_000, most: 10_000, waitMs: 60_000 },
  timeoutMs: 120_000,
  connect({ url, schema, ca }, { allowPrivate }) {
    const { host, port = 5_439, user, password, database, isLoopback } = placeOf(url);
    const ssl = isLoopback ? false : { ...(ca !== undefined && { ca }) };
    const options = { host, port, user, password, database, ssl };
    return { dialect: dialectOf(schema), connection: pgConnection(options, allowPrivate) };
  },
  grants({ url, schema }) {
    const { user, database } = placeOf(url);
    return [
      `CREATE SCHEMA IF NOT EXISTS ${quote(schema)};`,
      `GRANT USAGE, CREATE ON SCHEMA ${quote(schema)} TO ${quote(user)};`,
      `GRANT TEMP ON DATABASE ${quote(database)} TO ${quote(user)};`,
    ];
  },
});
