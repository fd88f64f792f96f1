import { decodeRecord, type Reservation } from '../../canonical/reservation.ts';
import type { Claim } from '../../reconcile/claim.ts';
import { readClaims, type StoredClaims } from '../../reconcile/stored-claims.ts';
import { type Pool, rowsOf, type Tx } from '../db/pool.ts';

/** What guests' own events said about these bookings. */
export async function guestClaims(
  db: Pool | Tx,
  integration: string,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly claims: readonly Claim[] }[]> {
  if (ids.length === 0) return [];
  const rows = await rowsOf(db)<{ id: string; data: string; claims: StoredClaims }>(
    `select id, data::text as data, claims from records
      where integration = $1 and type = 'reservation' and id = any($2::text[]) and claims -> 'guest' is not null`,
    [integration, ids],
  );
  return rows.map(({ id, data, claims: { guest } }) => {
    const { guest: claims = [] } = readClaims({ guest }, decodeRecord('reservation', data) as Reservation, [0, 0]);
    return { id, claims };
  });
}
