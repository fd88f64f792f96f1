import { hash } from 'node:crypto';
import type { Brand } from '../../core/brand/brand.ts';
import type { Guest } from '../../core/canonical/reservation.ts';
import { type GuestKeyKind, sharedAmong } from '../../core/persons/identifiers.ts';
import { comparedWith } from '../../core/persons/profile-match.ts';
import { rolledBack } from '../../core/store/db/pool.ts';
import { mergeProfiles, splitProfile, undoMerge } from '../../core/store/persons/edit-profiles.ts';
import { markDifferent, openPairs } from '../../core/store/persons/profile-bookings.ts';
import type { ProfileEdit } from '../../core/store/persons/profile-edit.ts';
import {
  commonKeys,
  type Profile,
  profilesById,
  profilesByKeys,
  profilesLike,
} from '../../core/store/persons/profile-lookup.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { namedBrand } from './endpoints.ts';

const shown = [
  'first_name',
  'last_name',
  'email',
  'phone',
  'guest_id',
  'date_of_birth',
  'nationality',
  'marketing_consent',
] as const;

/** What tells an operator who a person is. Documents and other fields stay in the record. */
export type PersonView = Pick<Guest, (typeof shown)[number]>;

export const personView = (guest: Guest): PersonView =>
  Object.fromEntries(shown.flatMap((field) => (guest[field] === undefined ? [] : [[field, guest[field]]])));

export type ProfileDecision =
  | { readonly kind: 'merge'; readonly id: string; readonly into: string }
  /** Moves these fields, and the data of reservations with the same values, to a new profile. */
  | { readonly kind: 'split'; readonly id: string; readonly fields: readonly GuestKeyKind[] }
  /** Undoes an earlier merge. */
  | { readonly kind: 'separate'; readonly id: string; readonly merged: string };

/** An operator's decision about which profiles are one person. It overrides the automatic matching from then on. */
export async function editProfiles(
  runtime: Runtime,
  integration: string,
  decision: ProfileDecision,
): Promise<ProfileEdit> {
  const edited = await decide(runtime, namedBrand(runtime, integration, { isLimited: true }), decision);
  if (edited.kind === 'done') runtime.wake.signal('outbox');
  return edited;
}

function decide({ pool }: Runtime, target: Brand, decision: ProfileDecision): Promise<ProfileEdit> {
  const { kind, id } = decision;
  if (kind === 'merge') return mergeProfiles(pool, target, { from: id, into: decision.into });
  if (kind === 'separate') return undoMerge(pool, target, { id, from: decision.merged });
  const newId = (parts: readonly string[]) => {
    const text = JSON.stringify([target.integration, ...parts]);
    return `gst_${hash('sha256', text).slice(0, 24)}`;
  };
  return splitProfile(pool, target, { id, fields: decision.fields }, newId);
}

const reasons = {
  shared_address: 'The names fit, and they have an address or number in common; other people have it as well.',
  other_last_name: 'They have an address, a number or a booking in common, but their last names differ.',
};

/**
 * The undecided pairs of a brand's profiles, those with the most bookings first; in a pair the one with more bookings, which a merge keeps. A pair that the data decides by now, or for which nothing
 * speaks any more, is left out.
 */
export function mergeCandidates({ pool }: Pick<Runtime, 'pool'>, integration: string, limit: number) {
  return rolledBack(pool, async (tx) => {
    const pairs = await openPairs(tx, integration);
    const undecided = [];
    for (let start = 0; start < pairs.length && undecided.length < limit; start += limit) {
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
        undecided.push({ evidence: because, reason: reasons[because], found_at, profiles });
      }
    }
    return undecided.slice(0, limit);
  });
}

/** Remembers that the two are different persons: the pair is not proposed again. False if it is not an undecided pair. */
export const notSamePerson = ({ pool }: Pick<Runtime, 'pool'>, integration: string, id: string, other: string) =>
  markDifferent(pool, integration, id, other);

/** Those with the most profiles are examined. */
const mostExamined = 200;

/**
 * Addresses and numbers under which different persons are known: they identify nobody by themselves. Computed from the profiles: one is in the
 * list as long as different persons have it.
 */
export function sharedAddresses({ pool }: Pick<Runtime, 'pool'>, integration: string) {
  return rolledBack(pool, async (tx) => {
    const common = await commonKeys(tx, integration, mostExamined);
    const profiles = await profilesByKeys(tx, integration, common);
    const isShared = sharedAmong(profiles.map(({ guest }) => guest));
    return common
      .filter(({ value }) => isShared(value))
      .map(({ kind, value, profiles: persons, bookings }) => ({ [kind]: value, persons, bookings }));
  });
}
