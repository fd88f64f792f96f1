import {
  type Dialect,
  jsonOf,
  names,
  newer,
  onKeys,
  type Statement,
  settable,
  sourceSql,
} from '../../warehouse/dialect.ts';
import { placeOf } from '../../warehouse/place.ts';
import type { Kind } from '../../warehouse/tables.ts';
import { warehouseType } from '../../warehouse/type.ts';
import { sqlserverConnection } from './connection.ts';
import { type Settings, settingsSchema } from './settings.ts';

const quote = (name: string) => `[${name}]`;

/** By code point, so that `A` and `a` are different ids. The rows have the collation of the database. */
const exact = ' COLLATE Latin1_General_100_BIN2';

const server: Record<Kind, string> = {
  key: `NVARCHAR(255)${exact}`,
  text: 'NVARCHAR(MAX)',
  int: 'INT',
  decimal: 'DECIMAL(38,9)',
  date: 'DATE',
  time: 'DATETIMEOFFSET(3)',
  boolean: 'BIT',
  json: 'NVARCHAR(MAX)',
};

/** The engines of the family differ in their types, and two of them enforce no key. The name of the host tells them apart. */
const flavors = {
  server: { types: server, keyed: true, layout: ')' },
  synapse: { types: { ...server, text: 'NVARCHAR(4000)' }, keyed: false, layout: ') WITH (HEAP)' },
  fabric: {
    types: { ...server, key: 'VARCHAR(255)', text: 'VARCHAR(8000)', json: 'VARCHAR(MAX)', time: 'DATETIME2(6)' },
    keyed: false,
    layout: ')',
  },
} as const;

export function flavorOf(host: string): keyof typeof flavors {
  if (/\.fabric\.microsoft\.com$/i.test(host)) return 'fabric';
  return /\.azuresynapse\.net$/i.test(host) ? 'synapse' : 'server';
}

function dialectOf(schema: string, flavor: keyof typeof flavors): Dialect {
  const { types, keyed, layout } = flavors[flavor];
  const dialect: Dialect = {
    quote,
    table: (name) => `${quote(schema)}.${quote(name)}`,
    types,
    rows: (columns) => {
      const typed = columns.map(({ name, kind }) => {
        // Fabric has no type with a time zone.
        const type = kind === 'time' ? 'VARCHAR(40)' : types[kind].replace(exact, '');
        return `${quote(name)} ${type} '$.${name}'`;
      });
      return `OPENJSON(@rows) WITH (${typed.join(', ')}) r`;
    },
    cell({ name, kind }) {
      const cell = `r.${quote(name)}`;
      if (kind === 'time') return `CAST(${flavor === 'fabric' ? `REPLACE(${cell}, 'Z', '')` : cell} AS ${types.time})`;
      return kind === 'key' && types.key.endsWith(exact) ? cell + exact : cell;
    },
    // MERGE is not the same in all engines of the family; this is, in one transaction.
    merge(table, columns, how, rows) {
      const values = { rows: jsonOf(rows) };
      const target = dialect.table(table.name);
      const source = `(${sourceSql(dialect, columns)}) s`;
      const own = quote(table.name);
      const set = settable(table, columns).map(({ name }) => `${quote(name)} = s.${quote(name)}`);
      const isNewer = how === 'newest' ? ` AND ${newer(dialect).replaceAll('t.[', `${own}.[`)}` : '';
      const update = `UPDATE ${target} SET ${set.join(', ')} FROM ${source} WHERE ${onKeys(dialect, table, own)}${isNewer}`;
      const insert = `INSERT INTO ${target} (${names(dialect, columns)}) SELECT ${names(dialect, columns, 's.')} FROM ${source}
WHERE NOT EXISTS (SELECT 1 FROM ${target} t WHERE ${onKeys(dialect, table)})`;
      const steps = [...(how === 'once' ? [] : [update]), ...(how === 'present' ? [] : [insert])];
      return steps.map((sql): Statement => ({ sql, values }));
    },
    jsonText: (column) => column,
    limit: (most) => `OFFSET 0 ROWS FETCH NEXT ${most} ROWS ONLY`,
    // The key of a clustered index has 900 bytes at most.
    layout: ({ key }) => (keyed ? `, PRIMARY KEY NONCLUSTERED (${key.map(quote).join(', ')})${layout}` : layout),
    createSchema: `IF SCHEMA_ID('${schema}') IS NULL EXEC('CREATE SCHEMA ${quote(schema)}')`,
    createTable: (name, body) => `IF OBJECT_ID('${name}') IS NULL CREATE TABLE ${name} ${body}`,
    addColumn: (table, definition) => `ALTER TABLE ${table} ADD ${definition} NULL`,
    createView: (name, select) => `CREATE OR ALTER VIEW ${name} AS ${select}`,
    items: (list) => ({ from: `CROSS APPLY OPENJSON(t.${quote(list)}) e`, position: 'CAST(e.[key] AS INT)' }),
    field: ({ name, kind }) =>
      kind === 'json'
        ? `JSON_QUERY(e.[value], '$.${name}')`
        : `CAST(JSON_VALUE(e.[value], '$.${name}') AS ${types[kind]})`,
    columns: {
      sql: `SELECT TABLE_NAME AS table_name, COLUMN_NAME AS column_name, DATA_TYPE AS data_type FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = '${schema}'`,
    },
    mostBytes: 8_000_000,
  };
  return dialect;
}

export const destinationType = warehouseType<Settings>({
  type: 'sqlserver',
  settings: settingsSchema,
  batch: { standard: 2_000, most: 10_000 },
  timeoutMs: 120_000,
  connect: (settings, services, timeoutMs) => ({
    dialect: dialectOf(settings.schema, flavorOf(placeOf(settings.url).host)),
    connection: sqlserverConnection(settings, services, timeoutMs),
  }),
  grants({ url, schema, tenant }) {
    const user = quote(placeOf(url).user);
    return [
      tenant === undefined
        ? `CREATE USER ${user} FOR LOGIN ${user};`
        : `CREATE USER [<the name of the service principal>] FROM EXTERNAL PROVIDER; -- and its name below instead of ${user}`,
      `CREATE SCHEMA ${quote(schema)} AUTHORIZATION ${user};`,
      `GRANT CREATE TABLE, CREATE VIEW TO ${user};`,
    ];
  },
});
