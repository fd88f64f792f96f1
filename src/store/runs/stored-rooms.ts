import type { Pool } from '../db/pool.ts';

/** How many rooms each stored reservation has, by id. */
export async function storedRooms(
  pool: Pool,
  integration: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ id: string; rooms: number }>(
    `select id, json_array_length(data->'rooms') as rooms from records
      where integration = $1 and type = 'reservation' and id = any($2) and version > 0`,
    [integration, ids],
  );
  return new Map(rows.map(({ id, rooms }) => [id, rooms]));
}
