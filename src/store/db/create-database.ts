import type { Pool } from './pool.ts';

/** Creates the database on this pool's server unless it exists, and returns its URL. */
export async function createDatabaseBeside(pool: Pool, name: string): Promise<string> {
  const { rowCount } = await pool.query('select 1 from pg_database where datname = $1', [name]);
  if (rowCount === 0) await pool.query(`create database "${name.replaceAll('"', '""')}"`);
  const { host = 'localhost', port = 5432, user = 'postgres' } = pool.options;
  return `postgres://${encodeURIComponent(user)}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`;
}
