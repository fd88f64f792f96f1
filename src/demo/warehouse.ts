import type { Runtime } from '../runtime/runtime.ts';
import { createDatabaseBeside } from '../store/db/create-database.ts';

/** The demo's warehouse is a separate database on the service's server. */
export async function warehouseUrl(runtime: Runtime): Promise<string> {
  return process.env.DATABASE_URL ?? createDatabaseBeside(runtime.pool, 'warehouse');
}
