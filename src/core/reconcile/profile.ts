import type { EntityType, Json } from '../../terms.ts';
import type { Guest } from '../canonical/reservation.ts';
import { guestKeys, sharedAmong } from '../persons/identifiers.ts';
import { type Candidate, comparedWith, findProfile, pinnedElsewhere } from '../persons/profile-match.ts';
import type { Mention } from '../persons/same-person.ts';
import type { Consent } from './consent.ts';
import { type FieldTimes, fieldsSaid, isNewer, leaderOf, never, type Time, type Values } from './content.ts';
import type { Receipt, Statement } from './forms.ts';
import { isSame, mergeGuest } from './guest-update.ts';

/**
 * Profiles are separate records of a brand's guests, assembled from its reservations. Two people merged into one profile receive each
 * other's data, while one person with two profiles can still be merged by an operator: a profile is found only where
 * `persons/same-person.ts` says same.
 */
type ProfileChoice<Profile extends Candidate> =
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
 * profile: nothing could find it again. `lists`: mentions of which each two are two persons.
 */
export function chooseProfile<Profile extends Candidate>(
  guest: Guest,
  candidates: readonly Profile[],
  isOfReservation: (id: string) => boolean = () => false,
  lists: readonly ReadonlySet<Mention>[] = [],
): ProfileChoice<Profile> {
  if (guestKeys(guest).length === 0) return { kind: 'none' };
  const mentions = [guest, ...candidates.map((one) => one.guest), ...lists.flatMap((list) => [...list])];
  const isShared = sharedAmong(new Set(mentions), {}, lists);
  const betweenOf = ({ id }: Candidate) => ({ isShared, isOneReservation: isOfReservation(id) });
  const match = findProfile(guest, candidates, betweenOf);
  if (match !== undefined) {
    const { profile, others } = match;
    const taken = pinnedElsewhere(guest, profile.id, candidates);
    return { kind: 'known', profile, guest: withoutKeys(guest, taken), others };
  }
  const alike = candidates.flatMap((one): AlikeProfile[] => {
    const { is, because } = comparedWith(guest, one, betweenOf(one));
    return is === 'unknown' && because !== 'no_evidence' ? [{ id: one.id, evidence: because }] : [];
  });
  return { kind: 'new', guest, alike };
}

/** A guest without the fields that hold one of these keys (`email:…`). */
export const withoutKeys = (guest: Guest, keys: ReadonlySet<string>): Guest =>
  Object.fromEntries(Object.entries(guest).filter(([field, value]) => !keys.has(`${field}:${value}`))) as Guest;

/** Values of the reservation replace those of the profile; missing ones stay, and an alias never replaces an address. */
export const mergeProfile = (known: Guest, guest: Guest): Guest =>
  mergeGuest(known, { guest, present: statedFor(known, guest) });

/** The fields that a guest of a reservation states for a profile. */
export function statedFor(known: Guest, guest: Guest): Set<string> {
  const said = fieldsSaid(guest as Values);
  if (known.email !== undefined && (guest.email_proxy === true || guest.email === undefined)) said.delete('email');
  if (known.phone !== undefined && guest.phone === undefined) said.delete('phone');
  return said;
}

/** A profile with the times of its fields; `times` has those that were stated at another time than the rest, or are stated to be empty. */
export interface TimedGuest {
  readonly guest: Guest;
  readonly time: Time;
  readonly times?: FieldTimes | undefined;
}

/**
 * The profile after a statement about these fields, whenever it arrives: each field has its newest statement. A field that the same message
 * stated before and no longer states was read wrongly: it is as if nobody had stated it. Consent follows its own rule. `fallback`: the message
 * is read again, and everything of its time is its own; what it does not state now is what the bookings say.
 */
export function statedAt(
  known: TimedGuest,
  guest: Guest,
  present: ReadonlySet<string>,
  at: Time,
  fallback?: Guest,
): TimedGuest {
  const said = fieldsSaid(known.guest as Values);
  const timeOf = (field: string) => known.times?.[field] ?? (said.has(field) ? known.time : never);
  const isOf = (time: Time, field: string) => !isNewer(timeOf(field), time) && !isNewer(time, timeOf(field));
  const isRead = (field: string) =>
    fallback ? isOf(at, field) || isOf(ofBookings, field) : isOf(at, field) && known.times?.[field] !== undefined;
  const unsaid = new Set([...said].filter((field) => isRead(field) && !present.has(field) && field !== consentField));
  const newer = new Set([...present].filter((field) => field !== consentField && !isNewer(timeOf(field), at)));
  const stated = Object.entries(guest).filter(([field]) => !unsaid.has(leaderOf(field)));
  const instead = Object.entries(fallback ?? {}).filter(([field]) => unsaid.has(leaderOf(field)));
  const merged = mergeGuest(known.guest, {
    guest: Object.fromEntries([...stated, ...instead]),
    present: newer.union(unsaid),
  });
  const time = isNewer(at, known.time) ? at : known.time;
  const left = fieldsSaid(merged as Values);
  const times: { [field: string]: Time } = {};
  for (const field of new Set([...said, ...Object.keys(known.times ?? {}), ...newer])) {
    if (field === consentField || (unsaid.has(field) && !left.has(field))) continue;
    const own = unsaid.has(field) ? ofBookings : newer.has(field) ? at : timeOf(field);
    const isUsual = left.has(field) && own[0] === time[0] && own[1] === time[1];
    if (!isUsual) times[field] = own;
  }
  return { guest: merged, time, ...(Object.keys(times).length > 0 && { times }) };
}

/** The time of what was taken from the bookings: before every statement. */
const ofBookings: Time = [1, 0];

const consentField = 'marketing_consent';

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

/** A statement about a record that comes from no payload. */
export const aboutRecord = (type: EntityType, id: string, receipt: Receipt): Statement => ({
  type,
  id,
  receipt,
  source: receipt.by ?? receipt.mode,
  scope: { fields: 'partial', lists: 'partial' },
  raw: { key: id, value: null },
  notes: [],
  origins: {},
});

/** What is said about a profile. */
export const aboutProfile = (
  id: string,
  receipt: Receipt,
  said: Partial<Statement> & ({ readonly record: Guest } | { readonly dropped: string }),
): Statement => ({ ...aboutRecord('guest', id, receipt), ...said });
