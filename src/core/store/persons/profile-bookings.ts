import type { Reservation } from '../../canonical/reservation.ts';
import { mergedPin } from '../../persons/profile-match.ts';
import type { AlikeProfile } from '../../reconcile/profile.ts';
import { columnsOf, rowsTable } from '../db/columns.ts';
import { hitsOne, type Pool, rowsOf, type Tx } from '../db/pool.ts';

/** Which profiles the guests of a reservation have. */
interface ProfileBookings {
  readonly profileIds: readonly string[];
  of(reservation: string): readonly string[];
  has(reservation: string, profile: string): boolean;
}

/** A merged profile's bookings are those of the profile that continues it. */
export async function bookingsOf(
  tx: Tx,
  integration: string,
  reservations: readonly { readonly id: string }[],
): Promise<ProfileBookings> {
  const { rows } = await tx.query<{ reservation_id: string; profile_id: string }>(
    `select distinct b.reservation_id, coalesce(p.profile_id, b.profile_id) as profile_id
       from profile_bookings b
       left join profile_pins p on p.integration = b.integration and p.key = $3 || b.profile_id
      where b.integration = $1 and b.reservation_id = any($2) order by 1, 2`,
    [integration, [...new Set(reservations.map(({ id }) => id))], mergedPin('')],
  );
  const bookings = Map.groupBy(rows, ({ reservation_id }) => reservation_id);
  const of = (reservation: string) => (bookings.get(reservation) ?? []).map(({ profile_id }) => profile_id);
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
    [integration, ...columnsOf(links, 'reservation', 'profile')],
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
export const staysOf = (db: Pool | Tx, integration: string, profile: string, limit: number): Promise<Stay[]> =>
  rowsOf(db)(
    `select r.id, r.data ->> 'check_in' as check_in, r.data ->> 'check_out' as check_out, r.data ->> 'status' as status
       from (${bookingsWith('$2')}) b
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = b.reservation_id and r.version > 0
      order by check_in desc, id limit $3`,
    [integration, profile, limit],
  );

/** Two profiles that may be one person. */
export interface ProfilePair {
  readonly ids: readonly [string, string];
  readonly evidence: AlikeProfile['evidence'];
}

const paired = rowsTable(2, { text: ['a', 'b', 'evidence'] });

/** Adds pairs for an operator to decide. A pair that was decided stays decided. */
export async function addPairs(tx: Tx, integration: string, pairs: readonly ProfilePair[]): Promise<void> {
  if (pairs.length === 0) return;
  await tx.query(
    `insert into profile_pairs (integration, one, other, evidence)
     select $1, least(a, b), greatest(a, b), evidence from ${paired.sql}
         on conflict do nothing`,
    [integration, ...paired.values(pairs.map(({ ids: [a, b], evidence }) => ({ a, b, evidence })))],
  );
}

interface OpenPair {
  readonly ids: readonly [string, string];
  readonly bookings: readonly [number, number];
  readonly found_at: Date;
}

/** Older pairs are not ranked: an operator who decided so many knows the brand's guests. */
const mostRanked = 1_000;

/** The newest undecided pairs, those with the most bookings first. Merged profiles have no pairs. */
export const openPairs = (db: Pool | Tx, integration: string): Promise<OpenPair[]> =>
  rowsOf(db)(
    `select array[one, other] as ids, array[a.count, b.count] as bookings, found_at
       from (select * from profile_pairs p
              where integration = $1 and different_since is null
                and not exists (select from profile_pins m where m.integration = $1 and m.key in ($3 || p.one, $3 || p.other))
              order by found_at desc limit $2) newest
      cross join lateral (select count(*)::int from (${bookingsWith('one')}) of_one) a
      cross join lateral (select count(*)::int from (${bookingsWith('other')}) of_other) b
      order by a.count + b.count desc, found_at desc, one, other`,
    [integration, mostRanked, mergedPin('')],
  );

/** Remembers that two profiles which an operator separated are two persons. */
export async function separatePair(tx: Tx, integration: string, a: string, b: string): Promise<void> {
  await tx.query(
    `insert into profile_pairs as p (integration, one, other, evidence, different_since)
     values ($1, least($2, $3), greatest($2, $3), 'shared_address', now())
         on conflict (integration, one, other) do update set different_since = coalesce(p.different_since, now())`,
    [integration, a, b],
  );
}

/** Remembers that two profiles are two persons; false if they are not an undecided pair. */
export const markDifferent = (db: Pool | Tx, integration: string, a: string, b: string): Promise<boolean> =>
  hitsOne(db)(
    `update profile_pairs set different_since = now()
      where integration = $1 and one = least($2, $3) and other = greatest($2, $3) and different_since is null`,
    [integration, a, b],
  );

/** Whoever may be the person of a merged profile, or is not, has the same relation to the profile that continues it. */
export async function continuePairs(tx: Tx, integration: string, from: string, into: string): Promise<void> {
  await tx.query(
    `insert into profile_pairs (integration, one, other, evidence, found_at, different_since)
     select integration, least($3, x), greatest($3, x), evidence, found_at, different_since
       from (select *, case when one = $2 then other else one end as x from profile_pairs
              where integration = $1 and $2 in (one, other)) p
      where x <> $3 on conflict do nothing`,
    [integration, from, into],
  );
}
