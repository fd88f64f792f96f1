import { mergedPin } from '../../persons/profile-match.ts';
import type { Tx } from '../db/pool.ts';

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
