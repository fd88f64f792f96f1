import type { Brand } from '../../brand/brand.ts';
import type { Guest } from '../../canonical/reservation.ts';
import { samePerson } from '../../persons/same-person.ts';
import type { Tx } from '../db/pool.ts';
import { mergeInto } from './edit-profiles.ts';
import { bookingsWith } from './profile-bookings.ts';
import { type Profile, profilesById } from './profile-lookup.ts';

/**
 * Merges profiles that a guest showed to be one person: one booking had the phone only, another one the e-mail address, and a third one has
 * both. So it does not matter which of them arrives first. An operator can undo it like any merge.
 */
export async function joinProfiles(
  tx: Tx,
  target: Brand,
  pairs: readonly { readonly kept: string; readonly other: string }[],
): Promise<void> {
  const merged = new Set<string>();
  for (const { kept: into, other: from } of pairs) {
    if (merged.has(into) || merged.has(from)) continue;
    const profiles = await profilesById(tx, target.integration, [into, from]);
    const [kept, other] = [into, from].map((id) => profiles.find((one) => one.id === id));
    if (kept === undefined || other === undefined || samePerson(kept.guest, other.guest).is === 'different') continue;
    if ((await pairsOfTwo(tx, target.integration, [kept, other])).length > 0) continue;
    const at = Math.max(kept.moment[0], other.moment[0]);
    await mergeInto(tx, target, other, kept, 'A booking with the addresses of both', at);
    merged.add(from);
  }
}

/** Which of these profiles are two persons: two elements of one list are, and two of which an operator said so. */
export async function pairsOfTwo(tx: Tx, integration: string, profiles: readonly Profile[]): Promise<Set<Guest>[]> {
  const { rows } = await tx.query<{ pair: string[] }>(
    `select array[a, b] as pair from unnest($2::text[]) a join unnest($2::text[]) b on a < b
      where exists ((${bookingsWith('a')}) intersect (${bookingsWith('b')}))
         or exists (select from profile_pairs where integration = $1 and one = a and other = b and different_since is not null)`,
    [integration, profiles.map(({ id }) => id)],
  );
  return rows.map(({ pair }) => new Set(profiles.filter(({ id }) => pair.includes(id)).map(({ guest }) => guest)));
}
