import type { Guest } from '../canonical/reservation.ts';
import { type GuestKeyKind, guestKeys, keyText } from '../persons/identifiers.ts';
import { type Candidate, comparedWith, findProfile, pinnedElsewhere } from '../persons/profile-match.ts';
import { sharedAmong } from '../persons/shared.ts';
import type { Json } from '../terms.ts';
import type { Consent } from './consent-run.ts';
import { isSame, mergeGuest } from './guest-update.ts';

/**
 * Profiles are separate records of a brand's guests, assembled from its reservations. Two people merged into one profile receive each
 * other's data, while one person with two profiles can still be merged by an operator: a profile is found only where
 * `persons/same-person.ts` says same.
 */
export type ProfileChoice<Profile extends Candidate> =
  | {
      readonly kind: 'known';
      readonly profile: Profile;
      readonly guest: Guest;
      /** Further profiles that this guest shows to be the same person. */
      readonly others: readonly Profile[];
    }
  | { readonly kind: 'new'; readonly guest: Guest; readonly alike: readonly AlikeProfile[] }
  | { readonly kind: 'none' };

/** A profile that may be the same person. */
export interface AlikeProfile {
  readonly id: string;
  readonly evidence: 'shared_address' | 'other_last_name';
}

/**
 * The profile of a guest among candidates that share a key with the guest or come from the same reservation. A guest without a key gets no
 * profile: nothing could find it again.
 */
export function chooseProfile<Profile extends Candidate>(
  guest: Guest,
  candidates: readonly Profile[],
  isOfReservation: (id: string) => boolean = () => false,
): ProfileChoice<Profile> {
  if (guestKeys(guest).length === 0) return { kind: 'none' };
  const isShared = sharedAmong([guest, ...candidates.map((one) => one.guest)]);
  const betweenOf = ({ id }: Candidate) => ({ isShared, isOneReservation: isOfReservation(id) });
  const found = findProfile(guest, candidates, betweenOf);
  if (found !== undefined) {
    const { profile, others } = found;
    const taken = pinnedElsewhere(guest, profile.id, candidates);
    return { kind: 'known', profile, guest: mergeProfile(profile.guest, withoutKeys(guest, taken)), others };
  }
  const alike = candidates.flatMap((one): AlikeProfile[] => {
    const { is, because } = comparedWith(guest, one, betweenOf(one));
    return is === 'unknown' && because !== 'no_evidence' ? [{ id: one.id, evidence: because }] : [];
  });
  return { kind: 'new', guest, alike };
}

/** A guest without the fields that hold one of these keys. */
export function withoutKeys(guest: Guest, keys: ReadonlySet<string>): Guest {
  if (keys.size === 0) return guest;
  const gone = new Set<string>(
    guestKeys(guest)
      .filter((key) => keys.has(keyText(key)))
      .map(({ kind }): GuestKeyKind => kind),
  );
  return Object.fromEntries(Object.entries(guest).filter(([field]) => !gone.has(field))) as Guest;
}

/** Values of the reservation replace those of the profile; missing ones stay, and an alias never replaces an address. */
export function mergeProfile(known: Guest, guest: Guest): Guest {
  const said = new Set(Object.keys(guest));
  if (guest.email_raw !== undefined) said.add('email');
  if (guest.phone_raw !== undefined) said.add('phone');
  if (known.email !== undefined && (guest.email_proxy === true || guest.email === undefined)) said.delete('email');
  if (known.phone !== undefined && guest.phone === undefined) said.delete('phone');
  return mergeGuest(known, { guest, present: said });
}

export function equalGuests(a: Guest, b: Guest): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof Guest>;
  return [...keys].every((key) => isSame(a[key] as Json, b[key] as Json));
}

/** The profile with its newest consent: a reservation that only repeats an older consent does not replace it. */
export function withConsent(guest: Guest, consent: Consent | undefined): Guest {
  if (consent === undefined || (guest.marketing_consent ?? null) === consent.value) return guest;
  return mergeGuest(guest, {
    guest: consent.value === null ? {} : { marketing_consent: consent.value },
    present: new Set(['marketing_consent']),
  });
}
