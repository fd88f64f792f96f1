import type { Dialect } from '../../warehouse/dialect.ts';
import type { Cells, Kind } from '../../warehouse/tables.ts';
import { warehouseType } from '../../warehouse/type.ts';
import { bigqueryConnection } from './connection.ts';
import { type Settings, settingsSchema } from './settings.ts';

const quote = (name: string) => `\`${name}\``;

const types: Record<Kind, string> = {
  key: 'STRING',
  text: 'STRING',
  int: 'INT64',
  decimal: 'NUMERIC',
  date: 'DATE',
  time: 'TIMESTAMP',
  boolean: 'BOOL',
  json: 'JSON',
};

const bounds = (rows: readonly Cells[], name: string): readonly [string, string] => {
  const sorted = rows.map((row) => row[name] ?? '').sort();
  return [sorted[0] ?? '', sorted.at(-1) ?? ''];
};

const dialectOf = (dataset: string, location: string): Dialect => ({
  quote,
  table: (name) => `\`${dataset}.${name}\``,
  types,
  rows: () => 'UNNEST(JSON_QUERY_ARRAY(@rows)) AS r',
  cell({ name, kind }) {
    const text = `JSON_VALUE(r, '$.${name}')`;
    if (kind === 'json') return `PARSE_JSON(${text}, wide_number_mode => 'round')`;
    return kind === 'key' || kind === 'text' ? text : `CAST(${text} AS ${types[kind]})`;
  },
  // A MERGE is billed for what it reads of the table: constants let it pass over clusters and partitions, values of a join do not.
  prune({ name }, { cells }) {
    if (name !== 'reservations' && name !== 'reservation_versions') return undefined;
    const [low, high] = bounds(cells, 'id');
    const on = 't.`id` BETWEEN @low AND @high';
    if (name === 'reservations') return { on, values: { low, high } };
    const [from, to] = bounds(cells, 'changed_at');
    const values = { low, high, from: from || '1970-01-01T00:00:00Z', to: to || '1970-01-01T00:00:00Z' };
    return { on: `${on} AND t.\`changed_at\` BETWEEN CAST(@from AS TIMESTAMP) AND CAST(@to AS TIMESTAMP)`, values };
  },
  jsonText: (column) => `TO_JSON_STRING(${column})`,
  layout({ name, key }) {
    const partition = name === 'reservation_versions' ? ' PARTITION BY DATE(`changed_at`)' : '';
    return `)${partition} CLUSTER BY ${key.slice(0, 2).map(quote).join(', ')}`;
  },
  // The shortest time for which the engine keeps deleted and changed rows.
  createSchema: `CREATE SCHEMA IF NOT EXISTS \`${dataset}\` OPTIONS (location = '${location}', max_time_travel_hours = 48)`,
  addColumn: (table, definition) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${definition}`,
  items: (list) => ({
    from: `CROSS JOIN UNNEST(JSON_QUERY_ARRAY(t.${quote(list)})) AS e WITH OFFSET AS n`,
    position: 'n',
  }),
  field({ name, kind }) {
    if (kind === 'json') return `JSON_QUERY(e, '$.${name}')`;
    return kind === 'text' ? `JSON_VALUE(e, '$.${name}')` : `CAST(JSON_VALUE(e, '$.${name}') AS ${types[kind]})`;
  },
  columns: { sql: `SELECT table_name, column_name, data_type FROM \`${dataset}.INFORMATION_SCHEMA.COLUMNS\`` },
  mostBytes: 8_500_000,
});

export const destinationType = warehouseType<Settings>({
  type: 'bigquery',
  settings: settingsSchema,
  // A job takes 5 s at least and 2 may change a table at a time: large batches.
  batch: { standard: 5_000, most: 10_000, waitMs: 60_000 },
  timeoutMs: 120_000,
  connect: (settings, services) => ({
    dialect: dialectOf(settings.dataset, settings.location),
    connection: bigqueryConnection(settings, services),
  }),
  grants: ({ project, dataset }) => [
    `roles/bigquery.jobUser on the project ${project}`,
    `roles/bigquery.dataEditor on the dataset ${dataset}`,
    `roles/bigquery.user on the project ${project}, only if prepare is to create the dataset`,
  ],
});
