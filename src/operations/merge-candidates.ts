import { comparedWith } from '../persons/profile-match.ts';
import { sharedAmong } from '../persons/shared.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { rolledBack } from '../store/db/pool.ts';
import { type Profile, profilesById, profilesLike } from '../store/persons/profile-lookup.ts';
import { markDifferent, openPairs } from '../store/persons/profile-pairs.ts';
import { type PersonView, personView } from './person-view.ts';

/** Two profiles that may be one person. The first one has more bookings; a merge keeps it. */
export interface MergeCandidate {
  readonly evidence: keyof typeof reasons;
  readonly reason: string;
  readonly found_at: Date;
  readonly profiles: readonly { readonly id: string; readonly bookings: number; readonly person: PersonView }[];
}

const reasons = {
  shared_address: 'The names fit, and they have an address or number in common; other people have it as well.',
  other_last_name: 'They have an address, a number or a booking in common, but their last names differ.',
};

/**
 * The undecided pairs of a brand's profiles, those with the most bookings first. A pair that the data decides by now, or for which nothing
 * speaks any more, is left out.
 */
export function mergeCandidates(
  { pool }: Pick<Runtime, 'pool'>,
  integration: string,
  limit: number,
): Promise<MergeCandidate[]> {
  return rolledBack(pool, async (tx) => {
    const pairs = await openPairs(tx, integration);
    const found: MergeCandidate[] = [];
    for (let start = 0; start < pairs.length && found.length < limit; start += limit) {
      const some = pairs.slice(start, start + limit);
      const own = new Map<string, Profile>();
      const ids = some.flatMap((pair) => pair.ids);
      for (const profile of await profilesById(tx, integration, ids)) own.set(profile.id, profile);
      const guests = [...own.values()].map(({ guest }) => guest);
      const isShared = sharedAmong((await profilesLike(tx, integration, guests, ids)).map(({ guest }) => guest));
      for (const { ids, bookings, found_at } of some) {
        const [a, b] = ids.map((id) => own.get(id));
        if (a === undefined || b === undefined) continue;
        const { is, because } = comparedWith(a.guest, b, { isShared });
        if (is !== 'unknown' || because === 'no_evidence') continue;
        const view = ({ id, guest }: Profile, count: number) => ({ id, bookings: count, person: personView(guest) });
        const profiles = [view(a, bookings[0]), view(b, bookings[1])].sort(
          (one, other) => other.bookings - one.bookings,
        );
        found.push({ evidence: because, reason: reasons[because], found_at, profiles });
      }
    }
    return found.slice(0, limit);
  });
}

/** Remembers that the two are different persons: the pair is not proposed again. False if it is not an undecided pair. */
export const notSamePerson = ({ pool }: Pick<Runtime, 'pool'>, integration: string, id: string, other: string) =>
  markDifferent(pool, integration, id, other);
