import { toReservation } from '../../canonical/check.ts';
import { decodeRecord } from '../../canonical/encode.ts';
import type { Reservation } from '../../canonical/reservation.ts';
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

/**
 * A stored reservation with its keys in the schema's order, because the content's hash depends on the order. Records from earlier
 * versions were stored as jsonb, which orders keys differently.
 */
export function readReservation(text: string): Reservation {
  const stored = decodeRecord('reservation', text);
  const checked = toReservation({ record: stored });
  return checked.kind === 'ok' ? checked.reservation : stored;
}
