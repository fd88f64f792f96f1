import { decodeRecord, type Guest, type Reservation } from '../../canonical/reservation.ts';
import type { EntityType, Json } from '../../terms.ts';
import type { Pool, Tx } from '../db/pool.ts';

/** The newest version of a record; undefined where there is none. */
export async function storedRecord(
  db: Pool | Tx,
  integration: string,
  type: EntityType,
  id: string,
): Promise<Json | undefined> {
  const { rows } = await db.query<{ data: Json }>(
    'select data from records where integration = $1 and type = $2 and id = $3 and version > 0',
    [integration, type, id],
  );
  return rows[0]?.data;
}

/** The newest versions of these records, by type and id. */
export async function storedRecords(
  db: Pool | Tx,
  integration: string,
  wanted: readonly { readonly type: EntityType; readonly id: string }[],
): Promise<Map<string, Reservation | Guest>> {
  const { rows } = await db.query<{ type: EntityType; id: string; data: string }>(
    `select r.type, r.id, r.data::text as data from unnest($2::text[], $3::text[]) as t (type, id)
       join records r on r.integration = $1 and r.type = t.type and r.id = t.id and r.version > 0`,
    [integration, wanted.map(({ type }) => type), wanted.map(({ id }) => id)],
  );
  return new Map(rows.map(({ type, id, data }) => [`${type} ${id}`, decodeRecord(type, data)]));
}
