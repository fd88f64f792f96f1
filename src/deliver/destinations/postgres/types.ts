import type pg from 'pg';
import { kinds } from '../../../canonical/fields.ts';
import { canonicalOf, ownColumns, type Table } from './tables.ts';

/** The types of the columns that are not canonical fields; the others are text. */
const envelope: ReadonlyMap<string, string> = new Map([
  ...['epoch', 'version', 'position', 'guest_count', 'room_count'].map((name) => [name, 'integer'] as const),
  ...['rooms', 'charges'].map((name) => [name, 'jsonb'] as const),
  ...['changed_at', 'stated_at', 'removed_at'].map((name) => [name, 'timestamp with time zone'] as const),
]);

/** The type of a column of ours. */
function typeOf(table: string, column: string): string {
  const fields = canonicalOf[(table === 'reservation_versions' ? 'reservations' : table) as Table] ?? [];
  const kind = fields.find(([name]) => name === column)?.[1].kind;
  return kind === undefined ? (envelope.get(column) ?? 'text') : kinds[kind].sql;
}

export interface Mistyped {
  readonly table: string;
  readonly column: string;
  readonly message: string;
}

/** Our columns to which somebody gave another type. Many of those types still take our values. */
export async function mistypedColumns(pool: pg.Pool, schema: string): Promise<Mistyped[]> {
  const { rows } = await pool.query<{ at: string; table: string; column: string; type: string }>(
    `select to_regnamespace($1)::text as at, c.relname as table, a.attname as column, format_type(a.atttypid, a.atttypmod) as type
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'p') order by c.relname, a.attnum`,
    [schema],
  );
  return rows.flatMap(({ at, table, column, type }) => {
    const needed = typeOf(table, column);
    if (type === needed || !ownColumns(table).includes(column)) return [];
    const place = `${at}.${table}`;
    const message = `${place}.${column} is ${type} instead of ${needed} (alter table ${place} alter ${column} type ${needed})`;
    return [{ table, column, message }];
  });
}
