import type { EntityType, Json } from '../../../terms.ts';
import { decodeRecord, type Guest, type Reservation } from '../../canonical/reservation.ts';
import { columnsOf } from '../db/columns.ts';
import { cellOf, mapOf, type Pool, rowsOf, type Tx } from '../db/pool.ts';

/** The newest version of a record; undefined where there is none. */
export const storedRecord = (
  db: Pool | Tx,
  integration: string,
  type: EntityType,
  id: string,
): Promise<Json | undefined> =>
  cellOf(db)('select data from records where integration = $1 and type = $2 and id = $3 and version > 0', [
    integration,
    type,
    id,
  ]);

/** The newest versions of these records, by type and id. */
export async function storedRecords(
  db: Pool | Tx,
  integration: string,
  wanted: readonly { readonly type: EntityType; readonly id: string }[],
): Promise<Map<string, Reservation | Guest>> {
  const rows = await rowsOf(db)<{ type: EntityType; id: string; data: string }>(
    `select r.type, r.id, r.data::text as data from unnest($2::text[], $3::text[]) as t (type, id)
       join records r on r.integration = $1 and r.type = t.type and r.id = t.id and r.version > 0`,
    [integration, ...columnsOf(wanted, 'type', 'id')],
  );
  return new Map(rows.map(({ type, id, data }) => [`${type} ${id}`, decodeRecord(type, data)]));
}

/** How many reservations and guests these brands have. */
export async function countRecords(db: Pool, integrations: readonly string[]): Promise<Record<EntityType, number>> {
  const counts = await mapOf(db)<EntityType, number>(
    'select type, count(*)::int as count from records where integration = any($1) and version > 0 group by type',
    [integrations],
  );
  return { reservation: counts.get('reservation') ?? 0, guest: counts.get('guest') ?? 0 };
}
