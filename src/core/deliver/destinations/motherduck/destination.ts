import type { Dialect } from '../../warehouse/dialect.ts';
import { pgConnection } from '../../warehouse/pg.ts';
import { placeOf } from '../../warehouse/place.ts';
import type { Kind } from '../../warehouse/tables.ts';
import { warehouseType } from '../../warehouse/type.ts';
import { placeOfEndpoint, type Settings, settingsSchema } from './settings.ts';

const quote = (name: string) => `"${name}"`;

const types: Record<Kind, string> = {
  key: 'VARCHAR',
  text: 'VARCHAR',
  int: 'INTEGER',
  decimal: 'DECIMAL(38,9)',
  date: 'DATE',
  time: 'TIMESTAMPTZ',
  boolean: 'BOOLEAN',
  json: 'JSON',
};

export const dialectOf = (schema: string): Dialect => ({
  quote,
  table: (name) => `${quote(schema)}.${quote(name)}`,
  types,
  // Parsed once, from text into a struct: a path for each cell would parse its row again, as a cast to JSON would the whole. A column and not
  // the parameter itself: the planner would make constants of all cells and copy them, which takes most of the time (bench warehouses).
  rows: (columns) =>
    `(SELECT unnest(from_json(v.j, '[{${columns.map(({ name }) => `"${name}":"VARCHAR"`).join(',')}}]')) AS r FROM (VALUES (CAST($1 AS VARCHAR))) v (j))`,
  cell: ({ name, kind }) => `CAST(r.${quote(name)} AS ${types[kind]})`,
  digest: { text: (cell) => `CAST(${cell} AS VARCHAR)`, of: (texts) => `sha256(${texts})` },
  jsonText: (column) => `CAST(${column} AS VARCHAR)`,
  layout: ({ key }) => `, PRIMARY KEY (${key.map(quote).join(', ')}))`,
  createSchema: `CREATE SCHEMA IF NOT EXISTS ${quote(schema)}`,
  addColumn: (table, definition) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${definition}`,
  items: (list) => ({
    from: `CROSS JOIN LATERAL (SELECT unnest(CAST(t.${quote(list)} AS JSON[])) AS e, generate_subscripts(CAST(t.${quote(list)} AS JSON[]), 1) AS n) u`,
    position: 'CAST(u.n - 1 AS INTEGER)',
  }),
  field: ({ name, kind }) => (kind === 'json' ? `u.e->'$.${name}'` : `CAST(u.e->>'$.${name}' AS ${types[kind]})`),
  columns: {
    sql: `SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_catalog = current_database() AND table_schema = '${schema}'`,
  },
  mostBytes: 8_000_000,
});

export const destinationType = warehouseType<Settings>({
  type: 'motherduck',
  settings: settingsSchema,
  batch: { standard: 5_000, most: 10_000, waitMs: 60_000 },
  timeoutMs: 120_000,
  connect({ token, database, schema, region, endpoint }, { allowPrivate }) {
    const { host, port, isLoopback } = placeOf(placeOfEndpoint(endpoint ?? `pg.${region}-aws.motherduck.com`));
    const options = { host, port: port ?? 5_432, user: 'postgres', password: token, database, ssl: !isLoopback };
    return { dialect: dialectOf(schema), connection: pgConnection(options, allowPrivate) };
  },
  grants: ({ database }) => [
    `An access token of an account that owns the database ${database} (Settings, Access Tokens; type Read/Write).`,
    `CREATE DATABASE IF NOT EXISTS ${database};`,
  ],
});
