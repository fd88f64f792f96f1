import type { ErrorCode } from '../../../errors.ts';
import { foreignText } from '../../../kit/foreign-text.ts';
import type { Cells, Column, Kind, Table } from './tables.ts';
import { ownWord } from './words.ts';

/** What an engine must say about itself, so that one loader serves it. */

export interface Statement {
  readonly sql: string;
  /** In the order of their places, for engines without names. */
  readonly values?: Readonly<Record<string, string | null>>;
}

/** A row of an answer: texts by column, with names in lower case. */
export type Row = Readonly<Record<string, string | null>>;

/** The cells of a row as texts. */
export const textRow = (row: object): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name.toLowerCase(), value == null ? null : String(value)]),
  );

/** An open engine. A failure rejects with `EngineFailure`. */
export interface Connection {
  /** In order; in one transaction if there are several. The rows of the last one. */
  run(statements: readonly Statement[], limits: CallLimits): Promise<readonly Row[]>;
  close(): Promise<void>;
}

export interface CallLimits {
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Before each further request of a call; false if another node may hold the records. */
  readonly extend: () => Promise<boolean>;
}

/** The kinds of failure that are handled in different ways. */
export type Meaning =
  /** A database, table or column is missing. */
  | 'missing'
  /** The login or a right. */
  | 'denied'
  /** A value, or the size of the statement: some record of the batch is to blame. */
  | 'refused'
  /** Another writer, a quota, an engine that wakes up: later, without using a try. */
  | 'busy'
  /** The engine cannot be reached or cannot work. */
  | 'away'
  | 'blocked'
  | 'lease'
  | 'other';

/** What each kind says before and after the words of the engine: what happened, and what to do next. */
const sentences: Partial<Record<Meaning, readonly [begin: string, next: string]>> = {
  missing: ['The warehouse lacks something', 'run `innbound destination prepare`'],
  denied: [
    'The warehouse refuses the login or a right',
    'check the credentials and the grants of `innbound destination prepare`',
  ],
  refused: ['The warehouse refused the rows', 'correct the value at its source or by a rule, then replay the record'],
  busy: ['The warehouse is busy', 'the rows wait for the next try, which costs none'],
  away: ['The warehouse cannot be reached', 'deliveries wait until it answers'],
  other: ['The warehouse failed', 'see its own log of statements'],
};

/** `said` names codes, tables and columns, never a value. */
export class EngineFailure extends Error {
  readonly meaning: Meaning;
  readonly afterMs: number | undefined;
  constructor(meaning: Meaning, said: string, afterMs = meaning === 'busy' ? 5_000 : undefined, then?: string) {
    const [begin, next = ''] = sentences[meaning] ?? [];
    super(begin === undefined ? said : `${begin}: ${said}; ${then ?? next}.`);
    this.meaning = meaning;
    this.afterMs = afterMs;
  }
}

/** What an engine means by its codes: the first entry that fits. `next` replaces the usual next step. */
export type Codes = readonly (readonly [code: RegExp, meaning: Meaning, afterMs?: number | undefined, next?: string])[];

/** What an engine said: as the codes are compared with it, as it is shown, and its own words, which may quote a value. */
export interface Said {
  readonly code: string;
  readonly name: string;
  readonly message: string;
}

export function failureBy(codes: Codes, { code, name, message }: Said, askedMs?: number): EngineFailure | undefined {
  const [, meaning, afterMs, next] = codes.find(([fits]) => fits.test(code)) ?? [];
  if (meaning === undefined) return undefined;
  const words = foreignText(message, ownWord);
  return new EngineFailure(meaning, words === '' ? name : `${name}, ${words}`, askedMs ?? afterMs, next);
}

export const failureCodes: Record<Meaning, ErrorCode> = {
  missing: 'deliver.warehouse_mismatch',
  denied: 'deliver.auth_failed',
  refused: 'deliver.refused',
  busy: 'deliver.rate_limited',
  away: 'deliver.unreachable',
  blocked: 'deliver.blocked_address',
  lease: 'deliver.lease_expired',
  other: 'deliver.server_error',
};

export interface Dialect {
  /** The name of a table or view in a statement. */
  readonly table: (name: string) => string;
  readonly quote: (column: string) => string;
  readonly types: Readonly<Record<Kind, string>>;
  /** The item of FROM that unpacks the rows, and one cell of it with its type. */
  readonly rows: (columns: readonly Column[]) => string;
  readonly cell: (column: Column) => string;
  /** A row as `merge` writes it, which is made once; by default a JSON object. */
  readonly encode?: (row: Cells, columns: readonly Column[]) => string;
  /** Statements that merge rows into a table; by default one MERGE. */
  readonly merge?: (table: Table, columns: readonly Column[], how: How, rows: EncodedRows) => readonly Statement[];
  /** For an engine that cannot unpack a parameter: puts the rows where `rows` finds them, within the transaction. */
  readonly stage?: (columns: readonly Column[], rows: EncodedRows) => readonly Statement[];
  /** Further conditions on the stored row, from the bounds of the batch, that let the engine pass over most of the table. */
  readonly prune?: (
    table: Table,
    rows: EncodedRows,
  ) => { readonly on: string; readonly values: Statement['values'] } | undefined;
  /** A stored JSON column as text. */
  readonly jsonText: (column: string) => string;
  /**
   * For audits: a cell as text (decimals with nine digits after the point; true, false), and the SHA-256 of texts that 0x1F separates, in
   * hexadecimal. Without it, an audit reads contents.
   */
  readonly digest?: { readonly text: (cell: string, kind: Kind) => string; readonly of: (texts: string) => string };
  /** The first rows of a sorted SELECT, where it is not LIMIT. */
  readonly limit?: (most: number) => string;
  /** Ends CREATE TABLE: order, clustering, what the engine keeps of old rows. */
  readonly layout: (table: Table) => string;
  readonly required?: string;
  readonly optional?: (type: string) => string;
  /** Creates the schema or dataset; absent where a person does it. */
  readonly createSchema?: string;
  readonly createTable?: (name: string, body: string) => string;
  readonly addColumn?: (table: string, definition: string) => string;
  readonly createView?: (name: string, select: string) => string;
  /** The stored rows, newest versions only. */
  readonly stored?: (name: string) => string;
  /** One row per item of a list of the reservations `t`: the item of FROM, the position from 0, and a field. */
  readonly items: (list: string, columns: readonly Column[]) => { readonly from: string; readonly position: string };
  readonly field: (column: Column) => string;
  /** Every column of the schema: table_name, column_name, data_type. */
  readonly columns: Statement;
  /** The rows of one statement, in bytes of UTF-8. */
  readonly mostBytes: number;
  /** After an erasure: removes old parts that still hold the guest. False while some are left. */
  readonly purge?: (connection: Connection, limits: CallLimits, erased: Erased) => Promise<boolean>;
}

/** One erasure of this opening of the destination. `memo` is kept until it is done. */
export interface Erased {
  readonly table: Table;
  readonly rows: EncodedRows;
  readonly memo: Map<string, string>;
}

/** `present`: only stored rows are changed. */
export type How = Table['replaces'] | 'present';

export interface EncodedRows {
  readonly cells: Cells[];
  /** One per row, as the dialect encodes it. */
  readonly texts: string[];
}

/** Whole rows of a table need its dialect; of other rows, such as keys, each is a JSON object. */
export const encoded = (cells: readonly Cells[], d?: Dialect, table?: Table): EncodedRows => ({
  cells: [...cells],
  texts: cells.map((row) => rowText(row, d, table)),
});

export const rowText = (row: Cells, d?: Dialect, table?: Table): string =>
  table && d?.encode ? d.encode(row, table.columns) : JSON.stringify(row);

export const jsonOf = ({ texts }: EncodedRows): string => `[${texts.join(',')}]`;

/** `t` is the stored row, `s` the new one. The same version is written again: a resend restores what was lost. */
export const newer = (d: Pick<Dialect, 'quote'>): string => {
  const [t, s] = [(name: string) => `t.${d.quote(name)}`, (name: string) => `s.${d.quote(name)}`];
  return `(${t('epoch')} < ${s('epoch')} OR (${t('epoch')} = ${s('epoch')} AND ${t('version')} <= ${s('version')}))`;
};

export const sourceSql = (d: Dialect, columns: readonly Column[]): string =>
  `SELECT ${columns.map((column) => `${d.cell(column)} AS ${d.quote(column.name)}`).join(', ')} FROM ${d.rows(columns)}`;

export const onKeys = (d: Pick<Dialect, 'quote'>, table: Table, stored = 't', row = 's'): string =>
  table.key.map((name) => `${stored}.${d.quote(name)} = ${row}.${d.quote(name)}`).join(' AND ');

export const names = (d: Pick<Dialect, 'quote'>, columns: readonly Column[], of = ''): string =>
  columns.map(({ name }) => `${of}${d.quote(name)}`).join(', ');

export const settable = (table: Table, columns: readonly Column[]): readonly Column[] =>
  columns.filter(({ name }) => !table.key.includes(name));

/** The merge of most engines. Keys are never null, and are compared with a plain =, so that clustering helps. */
export function mergeSql(
  d: Dialect,
  table: Table,
  columns: readonly Column[],
  how: How,
  rows: EncodedRows,
): readonly Statement[] {
  const pruned = how === 'present' ? undefined : d.prune?.(table, rows);
  const set = settable(table, columns).map(({ name }) => `${d.quote(name)} = s.${d.quote(name)}`);
  const update = `WHEN MATCHED${how === 'newest' ? ` AND ${newer(d)}` : ''} THEN UPDATE SET ${set.join(', ')}`;
  const insert = `WHEN NOT MATCHED THEN INSERT (${names(d, columns)}) VALUES (${names(d, columns, 's.')})`;
  const sql = [
    `MERGE INTO ${d.table(table.name)} t USING (${sourceSql(d, columns)}) s`,
    `ON ${onKeys(d, table)}${pruned ? ` AND ${pruned.on}` : ''}`,
    ...(how === 'once' ? [] : [update]),
    ...(how === 'present' ? [] : [insert]),
  ].join('\n');
  return [{ sql, values: { rows: jsonOf(rows), ...pruned?.values } }];
}

/** The rows of a table whose keys are among these. */
export function selectSql(
  d: Dialect,
  table: Table,
  columns: readonly Column[],
  keys: readonly string[],
  rows: EncodedRows,
): readonly Statement[] {
  const wanted = columns.map(
    ({ name, kind }) =>
      `${kind === 'json' ? d.jsonText(`t.${d.quote(name)}`) : `t.${d.quote(name)}`} AS ${d.quote(name)}`,
  );
  const on = keys.map((name) => `t.${d.quote(name)} = s.${d.quote(name)}`).join(' AND ');
  const own = table.columns.filter(({ name }) => keys.includes(name));
  return withRows(
    d,
    own,
    rows,
    `SELECT ${wanted.join(', ')} FROM ${storedRows(d, table)} t JOIN (${sourceSql(d, own)}) s ON ${on}`,
  );
}

export const storedRows = (d: Dialect, table: Table): string => d.stored?.(table.name) ?? d.table(table.name);

/** A statement that reads `rows` through sourceSql. */
export const withRows = (d: Dialect, own: readonly Column[], rows: EncodedRows, sql: string): readonly Statement[] =>
  d.stage === undefined ? [{ sql, values: { rows: jsonOf(rows) } }] : [...d.stage(own, rows), { sql }];
