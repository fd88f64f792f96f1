import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Json } from '../terms.ts';
import type { Consent } from './consent.ts';
import {
  type Candidate,
  type GuestKeyKind,
  guestKeys,
  keyText,
  matchProfile,
  type ProfileMatch,
  pinnedElsewhere,
  sameName,
} from './guest-match.ts';
import { isSame, mergeGuest } from './guest-update.ts';

/**
 * Profiles are separate records of a brand's guests, assembled from its reservations. Matching is conservative: two people
 * merged into one profile receive each other's data, while one person with two profiles can still be merged by an operator.
 *
 *   by guest_id                       always
 *   by e-mail (no alias of a site)    unless both names are known and differ in first and last name
 *   by phone                          only under the same name, or where one of the two has no name
 *   a key that belongs to somebody with another name is ignored: the guest's remaining keys make the profile
 *   a key shared by several guests of a reservation belongs to the first of them, who booked
 *   a key that an operator gave to a profile (a pin) leads to that profile; by phone, still only under the same name
 */
export type ProfileChoice =
  | { readonly kind: 'known'; readonly id: string; readonly guest: Guest; readonly by: GuestKeyKind }
  | { readonly kind: 'new'; readonly guest: Guest }
  | { readonly kind: 'none'; readonly reason: 'no_key' | 'name_differs' };

/** The guests of a reservation that have a key which no other guest shares, each with those keys only. */
export function identifiable(reservation: Pick<Reservation, 'guests'>): Guest[] {
  const taken = new Set<string>();
  return reservation.guests.flatMap((guest) => {
    const keys = guestKeys(guest).map(keyText);
    const own = keys.filter((key) => !taken.has(key));
    for (const key of keys) taken.add(key);
    if (own.length === 0) return [];
    return [withoutShared(guest, own)];
  });
}

/** Removes an address that belongs to the guest who booked. */
function withoutShared(guest: Guest, own: readonly string[]): Guest {
  const { email, phone, ...rest } = guest;
  const keepsEmail = email !== undefined && (guest.email_proxy === true || own.includes(`email:${email}`));
  const keepsPhone = phone !== undefined && own.includes(`phone:${phone}`);
  if (keepsEmail === (email !== undefined) && keepsPhone === (phone !== undefined)) return guest;
  return mergeGuest(
    {},
    {
      guest: { ...rest, ...(keepsEmail && { email }), ...(keepsPhone && { phone }) },
      present: new Set(Object.keys(guest)),
    },
  );
}

/** The profile of this guest among candidates that share a key. */
export function chooseProfile(guest: Guest, candidates: readonly Candidate[]): ProfileChoice {
  if (guestKeys(guest).length === 0) return { kind: 'none', reason: 'no_key' };
  const found = matchProfile(guest, candidates);
  if (found === undefined) {
    const clashes = candidates.some((one) => sharesAddress(one.guest, guest) && one.guest.guest_id === undefined);
    return clashes ? byOwnKeys(guest, candidates) : { kind: 'new', guest };
  }
  const { candidate, by } = found;
  if (!namesAllow(found, guest)) return byOwnKeys(guest, candidates);
  const own = withoutKinds(guest, pinnedElsewhere(guest, found, candidates));
  return { kind: 'known', id: candidate.id, guest: mergeProfile(candidate.guest, own), by };
}

function withoutKinds(guest: Guest, kinds: ReadonlySet<GuestKeyKind>): Guest {
  if (kinds.size === 0) return guest;
  return Object.fromEntries(Object.entries(guest).filter(([field]) => !kinds.has(field as GuestKeyKind))) as Guest;
}

/** Another person has one of the keys: the remaining keys still make a profile. */
function byOwnKeys(guest: Guest, candidates: readonly Candidate[]): ProfileChoice {
  const taken = new Set(candidates.flatMap((one) => [...guestKeys(one.guest).map(keyText), ...(one.pins ?? [])]));
  const own = guestKeys(guest)
    .map(keyText)
    .filter((key) => !taken.has(key));
  return own.length === 0
    ? { kind: 'none', reason: 'name_differs' }
    : { kind: 'new', guest: withoutShared(guest, own) };
}

const sharesAddress = (a: Guest, b: Guest): boolean =>
  guestKeys(a).some((key) => guestKeys(b).some((other) => keyText(other) === keyText(key)));

function namesAllow({ candidate: { guest: a }, by, isPinned }: ProfileMatch, b: Guest): boolean {
  if (by === 'guest_id' || (isPinned && by === 'email') || !hasName(a) || !hasName(b) || sameName(a, b)) return true;
  return by === 'email' && (same(a.first_name, b.first_name) || same(a.last_name, b.last_name));
}

const hasName = (guest: Guest): boolean => guest.first_name !== undefined || guest.last_name !== undefined;
const same = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && a.toLowerCase() === b.toLowerCase();

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
