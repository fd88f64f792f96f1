import pg from 'pg';
import { guardedSocket } from '../../../outbound/socket.ts';
import type { Settings } from './settings.ts';

/**
 * A pool to the warehouse. Unless private addresses are allowed, it connects to public ones only, like every destination. The warehouse may be
 * behind a pooler that gives each transaction another connection: no start-up parameters, no settings or tables of a session.
 */
export function openWarehouse(settings: Settings, allowPrivate: boolean, statementTimeoutMs: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: settings.url,
    application_name: 'innbound',
    max: 16,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    query_timeout: statementTimeoutMs + 1_000,
    keepAlive: true,
    ...(!allowPrivate && { stream: guardedSocket }),
  } as pg.PoolConfig);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Work in one transaction. It is rolled back if the work fails, and the connection is not used again: it may be in doubt. */
export async function inTransaction<T>(
  pool: pg.Pool,
  statementTimeoutMs: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(`begin; set local statement_timeout = ${statementTimeoutMs}`);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}
