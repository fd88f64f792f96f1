import { openPool, type Pool } from '../../src/store/db/pool.ts';
import { testDatabase } from './database.ts';

/** A store of its own, with all its tables and nothing in them. */
export async function testStore(): Promise<Pool> {
  const { connection } = await testDatabase();
  return openPool({ connection, applicationName: 'test' });
}
