import type { Dialect } from '../../warehouse/dialect.ts';
import type { Kind } from '../../warehouse/tables.ts';
import { warehouseType } from '../../warehouse/type.ts';
import { snowflakeConnection } from './connection.ts';
import { type Settings, settingsSchema, stored } from './settings.ts';

const types: Record<Kind, string> = {
  key: 'VARCHAR',
  text: 'VARCHAR',
  int: 'INT',
  decimal: 'NUMBER(38,9)',
  date: 'DATE',
  time: 'TIMESTAMP_TZ',
  boolean: 'BOOLEAN',
  json: 'VARIANT',
};

/** Names are not quoted: users write `select * from reservations`. */
const plain = (name: string) => name;

const dialectOf = (database: string, schema: string): Dialect => ({
  quote: plain,
  table: (name) => `${schema}.${name}`,
  types,
  rows: () => 'TABLE(FLATTEN(input => PARSE_JSON(?))) r',
  cell: ({ name, kind }) =>
    kind === 'json' ? `PARSE_JSON(r.value:${name}::VARCHAR)` : `r.value:${name}::VARCHAR::${types[kind]}`,
  jsonText: (column) => `TO_JSON(${column})`,
  layout: ({ key }) => `, PRIMARY KEY (${key.join(', ')})) DATA_RETENTION_TIME_IN_DAYS = 0`,
  // Transient: no fail-safe, so that with no retention nothing of an erased guest is kept.
  createSchema: `CREATE TRANSIENT SCHEMA IF NOT EXISTS ${database}.${schema} DATA_RETENTION_TIME_IN_DAYS = 0`,
  createView: (name, select) => `CREATE OR REPLACE VIEW ${name} COPY GRANTS AS ${select}`,
  items: (list) => ({ from: `, LATERAL FLATTEN(input => t.${list}) e`, position: 'e.index' }),
  field: ({ name, kind }) => (kind === 'json' ? `e.value:${name}` : `e.value:${name}::VARCHAR::${types[kind]}`),
  columns: {
    sql: `SELECT table_name, column_name, data_type FROM ${database}.information_schema.columns WHERE table_schema = '${schema.replace(/^"|"$/g, '')}'`,
  },
  // The text of a statement with its values should stay below 1 MB.
  mostBytes: 900_000,
});

export const destinationType = warehouseType<Settings>({
  type: 'snowflake',
  settings: settingsSchema,
  // A warehouse that wakes up runs for a minute at least.
  batch: { standard: 2_000, most: 10_000, waitMs: 300_000 },
  timeoutMs: 120_000,
  connect(settings, services) {
    const exact = (name: string) => (name.startsWith('"') ? name : stored(name));
    return {
      dialect: dialectOf(exact(settings.database), exact(settings.schema)),
      connection: snowflakeConnection(settings, services),
    };
  },
  grants({ user, warehouse, database, schema, role = 'INNBOUND' }) {
    return [
      `CREATE ROLE IF NOT EXISTS ${role};`,
      `CREATE USER IF NOT EXISTS ${user} TYPE = SERVICE DEFAULT_ROLE = ${role} RSA_PUBLIC_KEY = '<the public key of private_key>';`,
      `GRANT ROLE ${role} TO USER ${user};`,
      `GRANT USAGE ON WAREHOUSE ${warehouse} TO ROLE ${role};`,
      `GRANT USAGE ON DATABASE ${database} TO ROLE ${role};`,
      `CREATE TRANSIENT SCHEMA IF NOT EXISTS ${database}.${schema} DATA_RETENTION_TIME_IN_DAYS = 0;`,
      `GRANT USAGE, CREATE TABLE, CREATE VIEW ON SCHEMA ${database}.${schema} TO ROLE ${role};`,
    ];
  },
});
