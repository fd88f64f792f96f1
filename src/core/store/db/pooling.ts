import { InnboundError } from '../../../errors.ts';
import { randomId } from '../../../kit/ids.ts';
import type { Pool } from './pool.ts';

/**
 * Refuses a pooler that gives each transaction another server connection (pgbouncer's `pool_mode = transaction` or `statement`).
 * Settings, prepared statements, LISTEN and the lock of migrations belong to a connection and would reach other clients.
 *
 * The check: make a setting on one connection, look for it on another, and read it again on its own connection while the other holds
 * a transaction. With session pooling or direct connections only the first connection sees it, every time.
 */
export async function refuseTransactionPooling(pool: Pool): Promise<void> {
  const mine = await pool.connect();
  const other = await pool.connect().catch((error: unknown) => {
    mine.release();
    throw error;
  });
  const mark = randomId('mark');
  const read = `select current_setting('innbound.mark', true) as mark`;
  try {
    await mine.query(`set innbound.mark = '${mark}'`);
    await other.query('begin');
    const seen = await other.query<{ mark: string | null }>(read);
    const kept = await mine.query<{ mark: string | null }>({ text: read, query_timeout: 5_000 } as never);
    await other.query('commit');
    if (seen.rows[0]?.mark === mark || kept.rows[0]?.mark !== mark) throw refusal();
    await mine.query('reset innbound.mark');
  } catch (error) {
    // With one server connection, our second statement waits for our own transaction.
    throw (error as Error).message === 'Query read timeout' ? refusal() : error;
  } finally {
    mine.release();
    other.release(true);
  }
}

const refusal = () =>
  new InnboundError(
    'store.transaction_pooling',
    'DATABASE_URL points to a pooler that gives each transaction another connection (pgbouncer’s pool_mode = transaction).',
  );
