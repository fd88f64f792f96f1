import type { Guest } from '../canonical/reservation.ts';
import { keyTexts } from '../persons/identifiers.ts';
import { personsAmong } from '../persons/persons-among.ts';
import { isSame, mergeGuest } from './guest-update.ts';

/** A guest of a stored reservation. */
export interface ProfileMention {
  readonly guest: Guest;
  readonly list: string;
  /** The profile is known to come from this reservation. */
  readonly isLinked: boolean;
}

/**
 * A profile without the values of other persons that earlier rules of matching merged into it: the values that a guest of another booking
 * states and no guest who is the profile's person. The person with most of its values keeps the profile. Everything else stays.
 */
export function withoutOthers(profile: Guest, mentions: readonly ProfileMention[]): Guest {
  const keys = new Set(keyTexts(profile));
  const isNear = ({ guest, isLinked }: ProfileMention) => isLinked || keyTexts(guest).some((key) => keys.has(key));
  const persons = personsAmong(mentions).filter((group) => group.some(isNear));
  const [owner = []] = persons.toSorted(
    (a, b) => isLinkedIn(b) - isLinkedIn(a) || likeness(b, profile) - likeness(a, profile),
  );
  const others = persons.filter((group) => group !== owner);
  const foreign = new Set(
    (Object.keys(profile) as (keyof Guest)[]).filter((field) => {
      const states = ({ guest }: ProfileMention) => isSame(guest[field], profile[field]);
      return others.some((group) => group.some(states)) && !owner.some(states);
    }),
  );
  if (foreign.size === 0) return profile;
  const own = owner.reduce<Guest>(
    (known, { guest }) => mergeGuest(known, { guest, present: new Set(Object.keys(guest)) }),
    {},
  );
  return mergeGuest(profile, { guest: own, present: foreign });
}

const isLinkedIn = (group: readonly ProfileMention[]): number => Number(group.some(({ isLinked }) => isLinked));

const likeness = (group: readonly ProfileMention[], profile: Guest): number =>
  (Object.keys(profile) as (keyof Guest)[]).filter((field) =>
    group.some(({ guest }) => isSame(guest[field], profile[field])),
  ).length;
