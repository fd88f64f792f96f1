import type { Writable } from 'node:stream';
import pg from 'pg';
import { parseJson } from '../../kit/json.ts';
import { isSqlState } from '../../kit/sql-state.ts';
import { HostsPool, readHosts } from './hosts.ts';

/** Our tables have their own schema, so that they never collide with a warehouse in the same database. */
export const serviceSchema = 'innbound_service';

export type Pool = pg.Pool;
/** A connection inside a transaction. Only `transaction` creates one. */
export type Tx = pg.PoolClient;

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

export interface StoreOptions {
  readonly connection: pg.PoolConfig;
  readonly applicationName: string;
  readonly maxConnections?: number;
  /** How long one statement may take; a minute by default. */
  readonly statementMs?: number;
  /** Called for errors on idle connections, which the pool replaces. */
  readonly onError?: (error: Error) => void;
}

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
    pipeline: true,
  };
  const pool = hosts ? new HostsPool(hosts, config) : new pg.Pool(config);
  // Without a listener, a connection that the server closes ends the process.
  pool.on('error', (error) => options.onError?.(error));
  pool.on('connect', (client) => client.on('error', () => {}));
  openedWith.set(pool, options);
  return pool;
}

const sessionSettings = (statementMs: number): string =>
  `set search_path = ${serviceSchema}; set timezone = 'UTC'; set idle_in_transaction_session_timeout = 120000;
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

const isRetried = (error: unknown): boolean =>
  isSqlState(error, 'serializationFailure') || isSqlState(error, 'deadlockDetected') || isInsertedMeanwhile(error);

/** Another transaction inserted a record that was missing when this one looked for it. */
const isInsertedMeanwhile = (error: unknown): boolean =>
  isSqlState(error, 'uniqueViolation') && (error as { constraint?: string }).constraint === 'records_pkey';

/** Lets the statements of a connection take an hour: for migrations and other work whose time grows with the data. */
export async function patiently<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  const { connectionParameters } = client as unknown as { connectionParameters: { query_timeout: number } };
  const before = connectionParameters.query_timeout;
  connectionParameters.query_timeout = patientMs + answerMs;
  try {
    await client.query(`set statement_timeout = ${patientMs}`);
    return await work();
  } finally {
    connectionParameters.query_timeout = before;
    // After a failed statement this fails too, but the rollback restores the setting.
    await client.query(`set statement_timeout = ${before - answerMs}`).catch(() => {});
  }
}

const patientMs = 3_600_000;

/** As `patiently`, for statements outside a transaction. */
export async function withPatience<T>(pool: Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await patiently(client, () => work(client));
  } finally {
    client.release();
  }
}

/**
 * Runs the work in one transaction. Retries it after a deadlock or a serialization failure, three attempts in all. `last` is a
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
    const ahead: Promise<unknown>[] = [];
    sentAhead.set(tx, ahead);
    let broken: Error | undefined;
    try {
      const begun = oneWrite(tx, () => {
        const begin = tx.query(beginning);
        // If it fails, the statements behind it fail too and report it.
        begin.catch(() => {});
        return { begin, working: work(tx) };
      });
      const result = await begun.working;
      await begun.begin;
      // If `last` fails, PostgreSQL turns the commit behind it into a rollback.
      await together(tx, () => [...ahead, last?.(tx, result), tx.query('commit')]);
      return result;
    } catch (thrown) {
      // After a failed statement PostgreSQL refuses all others: the first failure is the cause.
      const error = (await firstFailure(ahead)) ?? thrown;
      try {
        await tx.query('rollback');
      } catch (rollbackError) {
        broken = rollbackError as Error;
      }
      if (attempt < 3 && isRetried(error)) continue;
      throw error;
    } finally {
      sentAhead.delete(tx);
      tx.release(broken);
    }
  }
}

const sentAhead = new WeakMap<Tx, Promise<unknown>[]>();

/**
 * Sends the last statements of a piece of work without waiting for their answers. Whatever follows on the connection runs after them, and
 * `transaction` waits for them with its commit: one round trip less. Each promise must send its statement at once and no other later.
 */
export async function sendAhead(tx: Tx, statements: () => readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const ahead = sentAhead.get(tx);
  if (ahead === undefined) {
    await together(tx, statements);
    return;
  }
  for (const sent of oneWrite(tx, statements)) {
    // The commit reports it.
    sent?.catch(() => {});
    if (sent !== undefined) ahead.push(sent);
  }
}

async function firstFailure(sent: readonly Promise<unknown>[]): Promise<unknown> {
  const ended = await Promise.allSettled(sent);
  return ended.find((one) => one.status === 'rejected')?.reason;
}

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

/**
 * Pipelines statements and returns their answers. It throws only after all of them have ended, so that no statement is still running
 * when the caller rolls back. It throws the first failure, which caused the others. `meanwhile` runs while the server works.
 */
export async function together<Sent extends readonly (Promise<unknown> | undefined)[] | []>(
  tx: Tx,
  statements: () => Sent,
  meanwhile?: () => void,
): Promise<Answers<Sent>> {
  const sent = Promise.allSettled<unknown>(oneWrite(tx, statements));
  if (meanwhile) {
    // The statements leave at the end of this turn.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    meanwhile();
  }
  const ended = await sent;
  const answers = ended.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  return answers as Answers<Sent>;
}

type Answers<Sent> = { -readonly [Key in keyof Sent]: Awaited<Sent[Key]> };

/**
 * Sends statements with one socket write, together with all that this turn of the event loop sends on the connection: the last writes of
 * a transaction leave with its commit, so an event takes two writes instead of three. Socket writes took 17 % of a busy node's time
 * (`npm run bench -- push`).
 */
function oneWrite<T>(tx: Tx, statements: () => T): T {
  const { stream } = (tx as unknown as { connection: { stream: Writable } }).connection;
  stream.cork();
  try {
    return statements();
  } finally {
    process.nextTick(() => stream.uncork());
  }
}
