import type { Guest } from '../canonical/reservation.ts';
import { type GuestKey, guestKeys, keyText, keyTexts } from './identifiers.ts';
import { fullNameKey } from './names.ts';
import { type Between, type Comparison, type SameReason, samePerson } from './same-person.ts';

/** A stored profile that may be a guest's. */
export interface Candidate {
  readonly id: string;
  readonly guest: Guest;
  /** Keys and full names that an operator gave to this profile by a merge or a split (`email:…`, `name:…@…`). */
  readonly pins?: ReadonlySet<string>;
}

/** The full name of a merged profile, as a pin: one person may have two names, and two persons one. */
export function namePin(guest: Guest, mergedFrom: string): string | undefined {
  const name = fullNameKey(guest);
  return name === undefined ? undefined : `name:${name}@${mergedFrom}`;
}

/** The id of a merged profile, as a pin: its bookings belong to the profile that continues it. */
export const mergedPin = (id: string): string => `profile:${id}`;

/** The keys, without the names, that an operator gave to a profile. */
export const pinnedKeys = ({ pins }: Candidate): GuestKey[] =>
  [...(pins ?? [])].flatMap((text) => {
    const kind = (['guest_id', 'email', 'phone'] as const).find((one) => text.startsWith(`${one}:`));
    return kind === undefined ? [] : [{ kind, value: text.slice(kind.length + 1) }];
  });

/** Whether a guest is the person of a profile. What an operator pinned to the profile counts as the profile's own. */
export function comparedWith(guest: Guest, candidate: Candidate, between: Between): Comparison {
  return samePerson(guest, ownedBy(candidate, guest), between);
}

function ownedBy({ guest: own, pins }: Candidate, guest: Guest): Guest {
  if (pins === undefined) return own;
  const pinned = guestKeys(guest).filter((key) => pins.has(keyText(key)));
  const name = fullNameKey(guest);
  const isNamePinned = name !== undefined && [...pins].some((pin) => pin.startsWith(`name:${name}@`));
  if (pinned.length === 0 && !isNamePinned) return own;
  const { first_name, last_name } = isNamePinned ? guest : own;
  const keys = Object.fromEntries(pinned.map(({ kind, value }) => [kind, value]));
  return { ...own, ...(first_name && { first_name }), ...(last_name && { last_name }), ...keys };
}

interface ProfileMatch<Profile extends Candidate> {
  readonly profile: Profile;
  readonly because: SameReason;
  /** Further profiles that are the same person by this guest. */
  readonly others: readonly Profile[];
}

const strength: readonly SameReason[] = [
  'guest_id',
  'email',
  'phone',
  'name_in_reservation',
  'name_and_birth_date',
  'place',
];

/** The profile of this guest: the strongest reason decides, then the likeness, then the smallest id, so that all nodes agree. */
export function findProfile<Profile extends Candidate>(
  guest: Guest,
  profiles: readonly Profile[],
  betweenOf: (profile: Profile) => Between,
): ProfileMatch<Profile> | undefined {
  const matches = profiles.flatMap((profile) => {
    const decision = comparedWith(guest, profile, betweenOf(profile));
    const equal = (Object.keys(guest) as (keyof Guest)[]).filter((one) => profile.guest[one] === guest[one]).length;
    const likeness = 2 * equal - Object.keys(profile.guest).length;
    return decision.is === 'same' ? [{ profile, because: decision.because, likeness }] : [];
  });
  const [first, ...others] = matches.toSorted(
    (a, b) =>
      strength.indexOf(a.because) - strength.indexOf(b.because) ||
      b.likeness - a.likeness ||
      (a.profile.id < b.profile.id ? -1 : 1),
  );
  return first && { ...first, others: others.map(({ profile }) => profile) };
}

/** The keys of a guest that an operator gave to another profile. */
export function pinnedElsewhere(guest: Guest, id: string, profiles: readonly Candidate[]): ReadonlySet<string> {
  const pins = new Set(profiles.flatMap((one) => (one.id === id ? [] : [...(one.pins ?? [])])));
  return new Set(keyTexts(guest).filter((key) => pins.has(key)));
}
