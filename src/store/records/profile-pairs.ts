import type { AlikeProfile } from '../../reconcile/profile.ts';
import type { Tx } from '../db/pool.ts';

/** Two profiles that may be one person. */
export interface ProfilePair {
  readonly ids: readonly [string, string];
  readonly evidence: AlikeProfile['evidence'];
}

/** Adds pairs for an operator to decide. A pair that was decided stays decided. */
export async function addPairs(tx: Tx, integration: string, pairs: readonly ProfilePair[]): Promise<void> {
  if (pairs.length === 0) return;
  await tx.query(
    `insert into profile_pairs (integration, one, other, evidence)
     select $1, least(a, b), greatest(a, b), evidence from unnest($2::text[], $3::text[], $4::text[]) as t (a, b, evidence)
         on conflict do nothing`,
    [
      integration,
      pairs.map(({ ids }) => ids[0]),
      pairs.map(({ ids }) => ids[1]),
      pairs.map(({ evidence }) => evidence),
    ],
  );
}
