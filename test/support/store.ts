import { migrate } from '../../src/store/migrate.ts';
import { openPool, type Pool } from '../../src/store/pool.ts';
import { testDatabase } from './database.ts';

/** A store of its own, with all its tables and nothing in them. */
export async function testStore(): Promise<Pool> {
  const { connection } = await testDatabase();
  const pool = openPool({ connection, applicationName: 'test' });
  await migrate(pool);
  return pool;
}
