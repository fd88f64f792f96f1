import { openPool, type Pool } from '../../src/core/store/db/pool.ts';
import { testDatabase } from './database.ts';

/** A new store with empty tables. */
export async function testStore(): Promise<Pool> {
  const { connection } = await testDatabase();
  return openPool({ connection, applicationName: 'test' });
}
