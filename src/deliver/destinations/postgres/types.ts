import type pg from 'pg';
import { ownColumns } from './tables.ts';

/** The types of our columns, as the migrations create them; the others are text. */
const typed: Readonly<Record<string, readonly string[]>> = {
  date: ['check_in', 'check_out', 'booking_date', 'date_of_birth', 'start_date', 'end_date'],
  integer: ['epoch', 'version', 'position', 'adults', 'children', 'quantity', 'guest_count', 'room_count'],
  numeric: ['total_amount', 'amount'],
  boolean: ['email_proxy', 'marketing_consent'],
  jsonb: ['extra'],
  'timestamp with time zone': ['changed_at'],
};
const types = new Map(Object.entries(typed).flatMap(([type, names]) => names.map((name) => [name, type] as const)));

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
    const needed = types.get(column) ?? 'text';
    if (type === needed || !ownColumns(table).includes(column)) return [];
    const place = `${at}.${table}`;
    const message = `${place}.${column} is ${type} instead of ${needed} (alter table ${place} alter ${column} type ${needed})`;
    return [{ table, column, message }];
  });
}
