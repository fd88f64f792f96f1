import { cellOf, type Pool, type Tx } from './pool.ts';

/** A function that cancels the statement which the connection runs at that moment. It does nothing to an idle connection. */
export async function cancelOf(tx: Tx): Promise<(db: Pool) => Promise<void>> {
  const pid = await cellOf(tx)<number>('select pg_backend_pid()');
  return async (db) => {
    await db.query('select pg_cancel_backend($1)', [pid]);
  };
}
