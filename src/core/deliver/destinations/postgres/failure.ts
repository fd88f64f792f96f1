import type pg from 'pg';
import type { ErrorCode } from '../../../../errors.ts';
import { foreignText, isVocabulary } from '../../../../kit/foreign-text.ts';
import { isSqlState } from '../../../../kit/sql-state.ts';
import { kinds } from '../../../canonical/fields.ts';
import type { Outcome } from '../../destination.ts';
import { canonicalOf, ownColumns, ownWords, type Table } from './tables.ts';

/** `where` has the functions and statements in which it happened; `routine` is the one of PostgreSQL that raised it. */
type ServerError = Partial<pg.DatabaseError>;

/**
 * True if the tables are not as we need them, or we may not use them: no row is to blame. The message of such an error names tables
 * and columns only, unless it comes from a function of the customer, such as a trigger: that may be about one row, and may quote it.
 */
function isMismatch({ code = '', table = '', column = '', where = '', routine = '' }: ServerError): boolean {
  // The second one is a policy for rows.
  if (where.includes('function') || routine === 'ExecWithCheckOptions') return false;
  // A column that somebody added and that has no default.
  if (isSqlState({ code }, 'notNullViolation')) return !ownColumns(table).includes(column);
  return /^(?:42|3D|3F)/.test(code);
}

/** A value does not fit its column, which may be because somebody changed the type of the column. */
export const mayBeMistyped = (error: unknown): boolean =>
  /^(?:22...|42804|42883|42846)$/.test(String((error as ServerError).code ?? ''));

/** The mistyped columns that may have caused the error. COPY names the column in question. */
function causesIn({ where = '' }: ServerError, mistyped: readonly Mistyped[]): readonly Mistyped[] {
  const [, table, column] = /^COPY innbound_stage_(\w+), line \d+, column (\w+)/.exec(where) ?? [];
  return table === undefined ? mistyped : mistyped.filter((one) => one.table === table && one.column === column);
}

/** Our own tables and columns are known by name. */
const isOurs = (word: string): boolean => isVocabulary(word) || ownWords().has(word);

/** The names of tables and columns that somebody added are in quotes. */
function structureWords(said: string): string {
  const quoted = new Set(Array.from(said.matchAll(/"(\w{1,63})"/g), ([, name = '']) => name.split('_')).flat());
  return foreignText(said, (word) => quoted.has(word) || isOurs(word));
}

const mostNamed = 3;

/** What an error of the warehouse means for the batch. Only codes and fixed words are kept: a message may quote a row. */
export function failureOf(error: unknown, mistyped: readonly Mistyped[] = []): Outcome {
  const code = /^(?:[0-9A-Z]{5}|[A-Z_]{1,40})$/.exec(String((error as { code?: unknown }).code))?.[0] ?? '';
  const said = code === '' ? 'no code' : code;
  if (code === 'INNBOUND_BLOCKED_ADDRESS') {
    return { kind: 'dead', code: 'deliver.blocked_address', message: (error as Error).message };
  }
  const causes = causesIn(error as ServerError, mistyped);
  if (causes.length > 0 || isMismatch(error as ServerError)) {
    const list = causes.slice(0, mostNamed).map((one) => one.message);
    const what = list.length > 0 ? list.join(', ') : structureWords((error as Error).message);
    const next = isSqlState(error, 'undefinedTable')
      ? ' If it was dropped, the next try creates it, empty: run innbound resend to fill it. If it was renamed, rename it back.'
      : '';
    return { kind: 'retry', code: 'deliver.warehouse_mismatch', message: `SQLSTATE ${code}: ${what}.${next}` };
  }
  if (/^(22|23)...$/.test(code)) {
    const { column, constraint } = error as { column?: string; constraint?: string };
    const where = [column, constraint]
      .flatMap((name) => (name === undefined ? [] : foreignText(name, isOurs)))
      .join(' ');
    const message = `The warehouse refused the rows: SQLSTATE ${code}${where && ` (${where})`}.`;
    return { kind: 'dead', code: 'deliver.refused', message, whole: true };
  }
  if (/^28...$/.test(code)) {
    const message = `The warehouse refused the login: SQLSTATE ${code}.`;
    return { kind: 'retry', code: 'deliver.auth_failed', message };
  }
  if (isSqlState(error, 'queryCanceled') || code === 'ETIMEDOUT') {
    return whole('deliver.timeout', `The warehouse did not finish in time: ${said}.`);
  }
  if (/^(08|53|57)...$|^25006$/.test(code) || !/^[0-9A-Z]{5}$/.test(code) || /^E[A-Z]+$/.test(code)) {
    return whole('deliver.unreachable', `The warehouse cannot be reached: ${said}.`);
  }
  return whole('deliver.server_error', `The warehouse answered SQLSTATE ${code}.`);
}

const whole = (code: ErrorCode, message: string): Outcome => ({ kind: 'retry', code, message, whole: true });

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

interface Mistyped {
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
