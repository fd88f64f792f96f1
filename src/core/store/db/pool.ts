import pg from 'pg';
import { parseJson } from '../../../kit/json.ts';
import { isSqlState } from '../../../kit/sql-state.ts';
import { HostsPool, readHosts } from './hosts.ts';

/** Our tables have their own schema, so that they never collide with a warehouse in the same database. */
export const serviceSchema = 'innbound_service';

export type Pool = pg.Pool;
/** A connection inside a transaction. Only `transaction` creates one. */
export type Tx = pg.PoolClient;
/** A row that goes to the API as it is. The schema of its route describes it; the tests of the API check each response against the schema. */
export type UnreadRow = Readonly<Record<string, unknown>>;

/** int8 as a number (our values are within the safe range), json with every digit kept, everything else as in pg. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === 20) return Number;
    if (oid === 114 || oid === 3802) return parseJson;
    if (oid === 1184) return (text: string) => new Date(text);
    if (oid === 1082) return (text: string) => text;
    return pg.types.getTypeParser(oid, format as 'text');
  }) as pg.CustomTypesConfig['getTypeParser'],
};

interface StoreOptions {
  readonly connection: pg.PoolConfig;
  readonly applicationName: string;
  readonly maxConnections?: number;
  /** How long one statement may take; a minute by default. */
  readonly statementMs?: number;
  /** False for connections that COPY rows, which pg cannot pipeline. */
  readonly pipeline?: boolean;
  /** Called for errors on idle connections, which the pool replaces. */
  readonly onError?: (error: Error) => void;
}

/** Runs a statement and gives its rows. */
export const rowsOf =
  (db: Pick<Pool | Tx, 'query'>) =>
  async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]> =>
    (await db.query<Row>(text, values)).rows;

/** Runs a statement and gives its only row, if it has one. */
export const rowOf =
  (db: Pick<Pool | Tx, 'query'>) =>
  async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row | undefined> =>
    (await db.query<Row>(text, values)).rows[0];

/** The row of a statement that always gives one. */
export const onlyRow =
  (db: Pick<Pool | Tx, 'query'>) =>
  async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row> =>
    (await db.query<Row>(text, values)).rows[0] as Row;

/** The first column of each row. */
export const columnOf =
  (db: Pick<Pool | Tx, 'query'>) =>
  async <Value>(text: string, values?: unknown[]): Promise<Value[]> =>
    (await db.query(text, values)).rows.map((row) => Object.values(row)[0] as Value);

/** The first column of the first row. */
export const cellOf =
  (db: Pick<Pool | Tx, 'query'>) =>
  async <Value>(text: string, values?: unknown[]): Promise<Value | undefined> =>
    (await columnOf(db)<Value>(text, values))[0];

/** One number; 0 without a row. */
export const numberOf =
  (db: Pick<Pool | Tx, 'query'>) =>
  async (text: string, values?: unknown[]): Promise<number> =>
    (await cellOf(db)<number>(text, values)) ?? 0;

/** The second column by the first. */
export const mapOf =
  (db: Pick<Pool | Tx, 'query'>) =>
  async <Key, Value>(text: string, values?: unknown[]): Promise<Map<Key, Value>> =>
    new Map((await db.query(text, values)).rows.map((row) => Object.values(row) as [Key, Value]));

/** How many rows a statement changes. */
export const changed =
  (db: Pick<Pool | Tx, 'query'>) =>
  async (text: string, values?: unknown[]): Promise<number> =>
    (await db.query(text, values)).rowCount ?? 0;

/** Runs a statement that finds or changes one row at most; false if it did none. */
export const hitsOne =
  (db: Pick<Pool | Tx, 'query'>) =>
  async (text: string, values?: unknown[]): Promise<boolean> =>
    (await changed(db)(text, values)) === 1;

/** The row without its null columns. */
export const withoutNulls = <Row extends object>(row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row;

const usualStatementMs = 60_000;
/** Lets the server's own error arrive before the driver gives up. */
const answerMs = 5_000;

export function openPool(options: StoreOptions): Pool {
  const { statementMs = usualStatementMs } = options;
  const hosts = readHosts(options.connection.connectionString ?? '');
  const config: pg.PoolConfig = {
    ...(hosts ? {} : options.connection),
    max: options.maxConnections ?? 16,
    application_name: options.applicationName,
    // By statement, not by the start-up parameter `options`, which pgbouncer refuses.
    onConnect: (client) => client.query(sessionSettings(statementMs)).then(() => {}),
    // The server ends a statement that is too slow. A server that is frozen cannot, so the driver then closes the connection, which
    // frees its place in the pool and fails whatever was sent on it.
    query_timeout: statementMs + answerMs,
    types,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // Independent statements are sent without waiting for each other's answers.
    pipeline: options.pipeline ?? true,
  };
  const pool = hosts ? new HostsPool(hosts, config) : new pg.Pool(config);
  // Without a listener, a connection that the server closes ends the process.
  pool.on('error', (error) => options.onError?.(error));
  pool.on('connect', (client) => client.on('error', () => {}));
  openedWith.set(pool, options);
  return pool;
}

const sessionSettings = (statementMs: number): string =>
  `set search_path = ${serviceSchema}; set timezone = 'UTC'; set datestyle = 'ISO'; set bytea_output = 'hex'; set idle_in_transaction_session_timeout = 120000;
   set statement_timeout = ${statementMs}`;

/**
 * The original options. A pool's own options name only the host that it connects to now, so a second pool made from them would
 * stay with that host after a failover.
 */
const openedWith = new WeakMap<Pool, StoreOptions>();

/** Another pool to the same database, on the same list of hosts. */
export function openSibling(pool: Pool, options: Omit<StoreOptions, 'connection'>): Pool {
  const original = openedWith.get(pool);
  if (original === undefined) throw new TypeError('only a pool of openPool has siblings');
  return openPool({ ...options, connection: original.connection });
}

/** Two transactions inserted one row. The second one is run again, as after a serialization failure. */
export class ConcurrentInsert extends Error {
  readonly code = '40001';
  constructor() {
    super('another transaction inserted the same record');
  }
}

/** The same transaction succeeds when it is run again. */
export const isRetried = (error: unknown): boolean =>
  isSqlState(error, 'serializationFailure') || isSqlState(error, 'deadlockDetected');

const longStatementMs = 3_600_000;

/** Runs work on a separate connection whose statements may take an hour: a migration, or other work whose time grows with the data. */
export async function withLongStatements<T>(
  pool: Pool,
  work: (separate: Pool) => Promise<T>,
  pipeline = true,
): Promise<T> {
  const applicationName = pool.options.application_name ?? 'innbound';
  const separate = openSibling(pool, { applicationName, maxConnections: 1, statementMs: longStatementMs, pipeline });
  try {
    return await work(separate);
  } finally {
    await separate.end();
  }
}

/**
 * Runs the work in one transaction. Retries it after a deadlock or a serialization failure, three attempts in all, and after a concurrent insert. `last` is a
 * statement that is sent together with the commit; `lockMs` is the longest wait for a lock.
 */
export async function transaction<T>(
  pool: Pool,
  work: (tx: Tx) => Promise<T>,
  last?: (tx: Tx, result: T) => Promise<unknown> | undefined,
  lockMs?: number,
): Promise<T> {
  const beginning = lockMs === undefined ? 'begin' : `begin; set local lock_timeout = ${lockMs}`;
  for (let attempt = 1; ; attempt++) {
    const tx = await pool.connect();
    let broken: Error | undefined;
    try {
      const begin = tx.query(beginning);
      // If it fails, the statements behind it fail too and report it.
      begin.catch(() => {});
      if (pool.options.pipeline === false) await begin;
      const result = await work(tx);
      await begin;
      // If `last` fails, PostgreSQL turns the commit behind it into a rollback.
      await together([last?.(tx, result), tx.query('commit')]);
      return result;
    } catch (error) {
      try {
        await tx.query('rollback');
      } catch (rollbackError) {
        broken = rollbackError as Error;
      }
      // Each time it finds one row more, however many others insert.
      if (isRetried(error) && attempt < (error instanceof ConcurrentInsert ? 20 : 3)) continue;
      throw error;
    } finally {
      tx.release(broken);
    }
  }
}

/** A transaction whose statements may take an hour, on a connection that may COPY rows. */
export const longTransaction = <T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> =>
  withLongStatements(pool, (separate) => transaction(separate, work), false);

/** Runs the work in a transaction that is rolled back, to learn what it would do. */
export async function rolledBack<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await pool.connect();
  try {
    await tx.query('begin');
    return await work(tx);
  } finally {
    await tx.query('rollback').finally(() => tx.release());
  }
}

/** A function that cancels the statement which the connection runs at that moment. It does nothing to an idle connection. */
export async function cancelOf(tx: Tx): Promise<(db: Pool) => Promise<void>> {
  const pid = await cellOf(tx)<number>('select pg_backend_pid()');
  return async (db) => void (await db.query('select pg_cancel_backend($1)', [pid]));
}

/**
 * Sends statements without waiting for each other's answers. It throws only after all of them have ended, so that no statement is still
 * running when the caller rolls back. After a failed statement PostgreSQL refuses the others of its transaction: the cause is thrown.
 */
export async function together<Sent extends readonly (Promise<unknown> | undefined)[] | []>(
  sent: Sent,
): Promise<Answers<Sent>> {
  const ended = await Promise.allSettled<unknown>(sent);
  const failures = ended.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
  if (failures.length > 0) throw failures.find((error) => !isSqlState(error, 'failedTransaction')) ?? failures[0];
  return ended.map((one) => ('value' in one ? one.value : undefined)) as Answers<Sent>;
}

type Answers<Sent> = { -readonly [Key in keyof Sent]: Awaited<Sent[Key]> };

/** Separate connections for accepting events, so that a sender never waits for a connection that a worker uses. */
export function openIntakePool(pool: Pool, onError?: (error: Error) => void): Pool {
  return openSibling(pool, {
    applicationName: `${pool.options.application_name ?? 'innbound'} intake`,
    maxConnections,
    statementMs,
    ...(onError && { onError }),
  });
}

/** One per batch that may be in progress, and the rest for looking up endpoints. */
const maxConnections = 4;

/**
 * As long as senders wait. A primary that loses its network closes no connection: a batch would wait for its answer for the usual minute,
 * and the batches behind it too, although a standby has been promoted.
 */
const statementMs = 10_000;
