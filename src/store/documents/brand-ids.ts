import type { Pool } from '../db/pool.ts';

/** The brand ids in all versions of an integration's document. */
export async function brandIdsOf(pool: Pool, integration: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select distinct body ->> 'brand_id' as id from documents where kind = 'integration' and name = $1`,
    [integration],
  );
  return rows.map(({ id }) => id);
}

/** The integrations that are no longer in force, with their last brand ids. */
export async function formerBrands(db: Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ name: string; brand_id: string }>(
    `select name, body ->> 'brand_id' as brand_id from documents
      where kind = 'integration' and not in_force and position is not null order by name`,
  );
  return new Map(rows.map(({ name, brand_id }) => [name, brand_id]));
}
