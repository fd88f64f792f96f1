import type { Reservation } from '../../canonical/reservation.ts';
import { mergedPin } from '../../persons/profile-match.ts';
import type { Pool, Tx } from '../db/pool.ts';

/** Which profiles the guests of a reservation have. */
export interface ProfileBookings {
  readonly profileIds: readonly string[];
  of(reservation: string): readonly string[];
  has(reservation: string, profile: string): boolean;
}

/** A merged profile's bookings are those of the profile that continues it. */
export async function bookingsOf(
  tx: Tx,
  integration: string,
  reservations: readonly string[],
): Promise<ProfileBookings> {
  const { rows } = await tx.query<{ reservation_id: string; profile_id: string }>(
    `select distinct b.reservation_id, coalesce(p.profile_id, b.profile_id) as profile_id
       from profile_bookings b
       left join profile_pins p on p.integration = b.integration and p.key = $3 || b.profile_id
      where b.integration = $1 and b.reservation_id = any($2) order by 1, 2`,
    [integration, [...new Set(reservations)], mergedPin('')],
  );
  const found = Map.groupBy(rows, ({ reservation_id }) => reservation_id);
  const of = (reservation: string) => (found.get(reservation) ?? []).map(({ profile_id }) => profile_id);
  return {
    profileIds: [...new Set(rows.map(({ profile_id }) => profile_id))],
    of,
    has: (reservation, profile) => of(reservation).includes(profile),
  };
}

export async function linkBookings(
  tx: Tx,
  integration: string,
  links: readonly { readonly reservation: string; readonly profile: string }[],
): Promise<void> {
  if (links.length === 0) return;
  await tx.query(
    `insert into profile_bookings (integration, reservation_id, profile_id)
     select $1, * from unnest($2::text[], $3::text[]) on conflict do nothing`,
    [integration, links.map(({ reservation }) => reservation), links.map(({ profile }) => profile)],
  );
}

/** SQL for the ids of a profile's bookings, with those of the profiles that were merged into it; $1 is the integration. */
export const bookingsWith = (profile: string): string =>
  `select b.reservation_id from profile_bookings b where b.integration = $1 and b.profile_id = ${profile}
   union
   select b.reservation_id from profile_pins m
     join profile_bookings b on b.integration = m.integration and b.profile_id = m.merged_from
    where m.integration = $1 and m.profile_id = ${profile}`;

export type Stay = Pick<Reservation, 'id' | 'check_in' | 'check_out' | 'status'>;

/** The stays of a guest, the latest arrival first. */
export async function staysOf(db: Pool | Tx, integration: string, profile: string, limit: number): Promise<Stay[]> {
  const { rows } = await db.query<Stay>(
    `select r.id, r.data ->> 'check_in' as check_in, r.data ->> 'check_out' as check_out, r.data ->> 'status' as status
       from (${bookingsWith('$2')}) b
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = b.reservation_id and r.version > 0
      order by check_in desc, id limit $3`,
    [integration, profile, limit],
  );
  return rows;
}
