import type { Pool } from '../db/pool.ts';

/** The reservations and guests that these brands have. */
export async function countRecords(
  db: Pick<Pool, 'query'>,
  integrations: readonly string[],
): Promise<{ readonly reservation: number; readonly guest: number }> {
  const { rows } = await db.query<{ type: 'reservation' | 'guest'; count: number }>(
    'select type, count(*)::int as count from records where integration = any($1) and version > 0 group by type',
    [integrations],
  );
  const of = (type: 'reservation' | 'guest') => rows.find((row) => row.type === type)?.count ?? 0;
  return { reservation: of('reservation'), guest: of('guest') };
}
