import type { Pool } from '../db/pool.ts';

/** The brand ids in all versions of an integration's document. */
export async function brandIdsOf(pool: Pool, integration: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select distinct body ->> 'brand_id' as id from documents where kind = 'integration' and name = $1`,
    [integration],
  );
  return rows.map(({ id }) => id);
}
