import { mergedPin } from '../../persons/profile-match.ts';
import type { AlikeProfile } from '../../reconcile/profile.ts';
import { rowsTable } from '../db/columns.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { bookingsWith } from './profile-bookings.ts';

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

export interface OpenPair {
  readonly ids: readonly [string, string];
  readonly bookings: readonly [number, number];
  readonly found_at: Date;
}

/** Older pairs are not ranked: an operator who decided so many knows the brand's guests. */
const mostRanked = 1_000;

/** The newest undecided pairs, those with the most bookings first. Merged profiles have no pairs. */
export async function openPairs(db: Pool | Tx, integration: string): Promise<OpenPair[]> {
  const { rows } = await db.query<OpenPair>(
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
  return rows;
}

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
export async function markDifferent(db: Pool | Tx, integration: string, a: string, b: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update profile_pairs set different_since = now()
      where integration = $1 and one = least($2, $3) and other = greatest($2, $3) and different_since is null`,
    [integration, a, b],
  );
  return rowCount === 1;
}

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
