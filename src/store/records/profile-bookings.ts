import type { Tx } from '../db/pool.ts';

/** Which profiles the guests of a reservation have. */
export interface ProfileBookings {
  readonly profileIds: readonly string[];
  of(reservation: string): readonly string[];
  has(reservation: string, profile: string): boolean;
}

export async function bookingsOf(
  tx: Tx,
  integration: string,
  reservations: readonly string[],
): Promise<ProfileBookings> {
  const { rows } = await tx.query<{ reservation_id: string; profile_id: string }>(
    `select reservation_id, profile_id from profile_bookings
      where integration = $1 and reservation_id = any($2) order by reservation_id, profile_id`,
    [integration, [...new Set(reservations)]],
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
