import type { Ground } from '../ground.ts';
import { createDatabaseBeside } from '../store/create-database.ts';

/** The demo's warehouse is a database of its own beside the service's. */
export async function warehouseUrl(ground: Ground): Promise<string> {
  return process.env.DATABASE_URL ?? createDatabaseBeside(ground.pool, 'warehouse');
}
