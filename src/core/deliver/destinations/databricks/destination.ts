import type { Dialect } from '../../warehouse/dialect.ts';
import type { Column, Kind } from '../../warehouse/tables.ts';
import { warehouseType } from '../../warehouse/type.ts';
import { databricksConnection } from './connection.ts';
import { type Settings, settingsSchema } from './settings.ts';

const quote = (name: string) => `\`${name}\``;

const types: Record<Kind, string> = {
  key: 'STRING',
  text: 'STRING',
  int: 'INT',
  decimal: 'DECIMAL(38,9)',
  date: 'DATE',
  time: 'TIMESTAMP',
  boolean: 'BOOLEAN',
  json: 'STRING',
};

const struct = (columns: readonly Column[]) =>
  `array<struct<${columns.map(({ name }) => `${name}:string`).join(',')}>>`;

const dialectOf = (catalog: string, schema: string): Dialect => ({
  quote,
  table: (name) => `${quote(catalog)}.${quote(schema)}.${quote(name)}`,
  types,
  // Without FAILFAST, text that does not parse would be null.
  rows: (columns) => `(SELECT explode(from_json(:rows, '${struct(columns)}', map('mode', 'FAILFAST'))) AS r)`,
  cell: ({ name, kind }) => (types[kind] === 'STRING' ? `r.${name}` : `CAST(r.${name} AS ${types[kind]})`),
  jsonText: (column) => column,
  layout: ({ key }) =>
    `) CLUSTER BY (${key.slice(0, 2).map(quote).join(', ')}) TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 1 day')`,
  createSchema: `CREATE SCHEMA IF NOT EXISTS ${quote(catalog)}.${quote(schema)}`,
  addColumn: (table, definition) => `ALTER TABLE ${table} ADD COLUMNS (${definition})`,
  items: (list, columns) => ({
    from: `LATERAL VIEW posexplode(from_json(t.${list}, '${struct(columns)}')) p AS n, e`,
    position: 'n',
  }),
  field: ({ name, kind }) => (types[kind] === 'STRING' ? `e.${name}` : `CAST(e.${name} AS ${types[kind]})`),
  columns: {
    sql: `SELECT table_name, column_name, data_type FROM ${quote(catalog)}.information_schema.columns WHERE table_schema = '${schema}'`,
  },
  // The size of a parameter is not documented.
  mostBytes: 1_000_000,
});

export const destinationType = warehouseType<Settings>({
  type: 'databricks',
  settings: settingsSchema,
  batch: { standard: 2_000, most: 10_000, waitMs: 60_000 },
  timeoutMs: 120_000,
  connect: (settings, services) => ({
    dialect: dialectOf(settings.catalog, settings.schema),
    connection: databricksConnection(settings, services),
  }),
  grants: ({ catalog, schema, client_id: user = 'the user of the token' }) => [
    `GRANT USE CATALOG ON CATALOG ${catalog} TO \`${user}\`;`,
    `CREATE SCHEMA IF NOT EXISTS ${catalog}.${schema};`,
    `GRANT USE SCHEMA, CREATE TABLE, MODIFY, SELECT ON SCHEMA ${catalog}.${schema} TO \`${user}\`;`,
    `CAN USE on the SQL warehouse (its page, Permissions)`,
  ],
});
