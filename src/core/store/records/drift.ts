import type { IntegrationName } from '../../../terms.ts';
import { rowsTable } from '../db/columns.ts';
import { type Pool, rowsOf, type Tx } from '../db/pool.ts';
import type { ChangeStep } from './write.ts';

/** Longer values are text rather than codes; their beginning is enough to recognise them. */
const longestValue = 200;

/** Counts the values that no value map lists, in records that changed. */
export async function countDrift(tx: Tx, integration: IntegrationName, changes: readonly ChangeStep[]): Promise<void> {
  const counts = new Map<string, { field: string; value: string; times: number }>();
  for (const { statement } of changes) {
    for (const { field, value } of statement.drift ?? []) {
      const shown = value.slice(0, longestValue);
      const known = counts.get(`${field} ${shown}`);
      if (known) known.times++;
      else counts.set(`${field} ${shown}`, { field, value: shown, times: 1 });
    }
  }
  await add(tx, integration, counts);
}

/** Counts the properties of pulled rows that belong to no brand. */
export async function countUnrouted(
  tx: Tx,
  integration: IntegrationName,
  properties: readonly string[],
): Promise<void> {
  const counts = Map.groupBy(properties, (property) => property.slice(0, longestValue));
  const rows = [...counts].map(([value, all]) => [value, { field: 'property', value, times: all.length }] as const);
  await add(tx, integration, new Map(rows));
}

const counted = rowsTable(2, { text: ['field', 'value'], bigint: ['times'] });

async function add(
  tx: Tx,
  integration: IntegrationName,
  counts: ReadonlyMap<string, { readonly field: string; readonly value: string; readonly times: number }>,
): Promise<void> {
  if (counts.size === 0) return;
  const rows = [...counts.values()].sort((a, b) => (a.field + a.value < b.field + b.value ? -1 : 1));
  await tx.query(
    `insert into drift as d (integration, field, value, times)
     select $1, field, value, times from ${counted.sql}
         on conflict (integration, field, value) do update set times = d.times + excluded.times, last_at = now()`,
    [integration, ...counted.values(rows)],
  );
}

interface DriftRow {
  readonly field: string;
  readonly value: string;
  readonly times: number;
  readonly first_at: Date;
  readonly last_at: Date;
}

export const listDrift = (db: Pool, integration: string): Promise<DriftRow[]> =>
  rowsOf(db)(
    'select field, value, times, first_at, last_at from drift where integration = $1 order by last_at desc limit 500',
    [integration],
  );

export interface UnknownSpelling {
  readonly field: string;
  readonly value: string;
  readonly times: number;
  readonly brands: readonly string[];
  readonly last_at: Date;
}

/** Spellings of these fields that no map lists, over all brands; those of most records first. */
export const unknownSpellings = (db: Pool, fields: readonly string[]): Promise<UnknownSpelling[]> =>
  rowsOf(db)(
    `select field, value, sum(times)::int as times, array_agg(integration order by times desc) as brands, max(last_at) as last_at
       from drift where field = any($1) group by field, value order by sum(times) desc, field, value limit 500`,
    [fields],
  );
