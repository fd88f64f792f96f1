import type { ErrorCode } from '../../errors.ts';
import type { Json, LocalDate, Note } from '../../terms.ts';
import { fields as canonical } from '../canonical/fields.ts';
import { noteOf } from '../canonical/notes.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { guestKeys, keyText, keyTexts, sharedAmong } from '../persons/identifiers.ts';
import { type Candidate, comparedWith, pinnedElsewhere } from '../persons/profile-match.ts';
import { type Between, type SameReason, samePerson } from '../persons/same-person.ts';
import { type ContentItem, extraPrefix, isEnded, leaderOf, type Values } from './content.ts';

/** A guest event, checked and normalized. */
export interface GuestUpdate {
  readonly guest: Guest;
  /** The fields that were sent, including empty ones. All other fields keep their stored value. */
  readonly present: ReadonlySet<string>;
  /** The reservation that the event names, if any. */
  readonly reservationId?: string;
}

/** A profile after the rules that concern guests alone. */
export type RuledGuest =
  | { readonly kind: 'kept'; readonly guest: Guest; readonly notes: readonly Note[] }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string; readonly detail: Json };

/** Where a person is stored: a profile, or a place in the guest list of a reservation. */
export type PersonPlace = { readonly profile: string } | { readonly reservation: string; readonly place: number };

type GuestPlan =
  | {
      readonly kind: 'person';
      /** The updated profile; a new one has no id yet. */
      readonly profile: { readonly id?: string; readonly guest: Guest };
      readonly reservations: readonly GuestAmendment[];
    }
  /** The event may mean several persons, or one who may be another: it changes nobody. */
  | { readonly kind: 'ambiguous'; readonly candidates: readonly PersonPlace[] };

export interface GuestAmendment {
  readonly record: Reservation;
  /** What the event states about the reservation's guests. */
  readonly said: readonly ContentItem[];
  readonly notes: readonly Note[];
}

interface KnownPersons {
  /** Profiles that share a key with the event, or with a guest whom it may mean. */
  readonly profiles: readonly Candidate[];
  /** Reservations of guests with such a key, and the named one. */
  readonly reservations: readonly Reservation[];
  /** Whether the profile comes from the guest list of this reservation, among others. */
  readonly isBookingOf?: (reservation: string, profile: string) => boolean;
}

/**
 * Finds the person whom a guest event is about and what it changes: the profile, and the guest in every reservation that is still to come
 * or in house; a withdrawal, in all. The strongest reason decides: the guest id, an address that one person has, the name in the
 * reservation that the event names.
 * `assigned`: an operator decided which stored person is meant. It is ambiguous again if another person is there by now.
 */
export function planGuestUpdate(
  update: GuestUpdate,
  known: KnownPersons,
  today: LocalDate,
  assigned?: PersonPlace,
): GuestPlan {
  const stored = storedPersons(known);
  const lists = known.reservations.map(({ guests }) => new Set(guests));
  const isShared = sharedAmong([update.guest, ...stored.map(({ guest }) => guest)], {}, lists);
  const compared = stored.map((one) => {
    const isOneReservation = isNamed(one, update);
    const between = { isShared, isOneReservation, isOnePlace: isOneReservation && one.isAlone === true };
    return { ...one, decision: comparedWith(update.guest, one.owner, between) };
  });
  const meant =
    assigned === undefined
      ? strongest(compared)
      : compared.filter(({ at, decision }) => isPlace(at, assigned) && decision.is !== 'different');
  if (areSeveral(meant.map(({ guest }) => guest))) return { kind: 'ambiguous', candidates: meant.map(({ at }) => at) };
  const unknown = compared.filter((one) => one.decision.is === 'unknown' && isNear(one, update));
  if (meant.length === 0 && (assigned !== undefined || unknown.length > 0)) {
    return { kind: 'ambiguous', candidates: unknown.map(({ at }) => at) };
  }
  const among = (persons: readonly Compared[]) => (one: Compared) =>
    persons.includes(one) || persons.some((person) => isPersonOf(one, person, { ...known, isShared }));
  const profiles = compared.filter(({ at }) => 'profile' in at).filter(among(meant));
  const own = compared.filter(among([...meant, ...profiles]));
  return {
    kind: 'person',
    profile: profileAfter(update, own, known.profiles),
    reservations: amendments(update, own, known, today),
  };
}

type Compared = StoredPerson & { readonly decision: ReturnType<typeof samePerson> };

interface StoredPerson {
  readonly at: PersonPlace;
  readonly guest: Guest;
  /** For a profile: with the keys and names that an operator gave to it. */
  readonly owner: Candidate;
  /** The only guest of a reservation: an event without a name can mean no other place there. */
  readonly isAlone?: boolean;
}

const storedPersons = ({ profiles, reservations }: KnownPersons): StoredPerson[] => [
  ...profiles.map((owner) => ({ at: { profile: owner.id }, guest: owner.guest, owner })),
  ...reservations.flatMap(({ id, guests }) =>
    guests.map((guest, place) => {
      return { at: { reservation: id, place }, guest, owner: { id, guest }, isAlone: guests.length === 1 };
    }),
  ),
];

const isNamed = ({ at }: StoredPerson, { reservationId }: GuestUpdate): boolean =>
  'reservation' in at && at.reservation === reservationId;

/** The event shares a key with this person, or names the reservation. */
const isNear = (one: StoredPerson, update: GuestUpdate): boolean =>
  isNamed(one, update) || !new Set(keyTexts(update.guest)).isDisjointFrom(new Set(keyTexts(one.guest)));

const reasons: readonly (readonly SameReason[])[] = [
  ['guest_id'],
  ['email'],
  ['phone'],
  ['name_in_reservation', 'name_and_birth_date'],
  ['place'],
];

function strongest(compared: readonly Compared[]): readonly Compared[] {
  const by = (wanted: readonly SameReason[]) =>
    compared.filter(({ decision }) => decision.is === 'same' && wanted.includes(decision.because));
  return reasons.map(by).find((keys) => keys.length > 0) ?? [];
}

/** A guest whom the event does not mean itself, but who is the person whom it means. An operator may have merged two guest ids. */
function isPersonOf(
  { at, guest, decision }: Compared,
  { at: place, owner }: Compared,
  { isBookingOf, isShared }: Pick<KnownPersons, 'isBookingOf'> & Between,
): boolean {
  const [a, b] = 'profile' in at ? [place, at] : [at, place];
  const isOneReservation = 'reservation' in a && 'profile' in b && isBookingOf?.(a.reservation, b.profile) === true;
  const between = { ...(isShared && { isShared }), isOneReservation };
  const isMerged = guestKeys(guest).some((key) => key.kind === 'guest_id' && owner.pins?.has(keyText(key)));
  return (decision.is !== 'different' || isMerged) && comparedWith(guest, owner, between).is === 'same';
}

const areSeveral = (guests: readonly Guest[]): boolean =>
  guests.some((one, i) => guests.slice(i + 1).some((other) => samePerson(one, other).is === 'different'));

function isPlace(at: PersonPlace, wanted: PersonPlace): boolean {
  if ('profile' in at) return 'profile' in wanted && at.profile === wanted.profile;
  return 'reservation' in wanted && at.reservation === wanted.reservation && at.place === wanted.place;
}

/** The profile of the person, with the values of the event; not with a key that an operator gave to another profile. */
function profileAfter(
  update: GuestUpdate,
  own: readonly Compared[],
  profiles: readonly Candidate[],
): { readonly id?: string; readonly guest: Guest } {
  const ids = new Set(own.flatMap(({ at }) => ('profile' in at ? [at.profile] : [])));
  const profile = profiles.filter(({ id }) => ids.has(id)).toSorted((a, b) => (a.id < b.id ? -1 : 1))[0];
  if (profile === undefined) return { guest: update.guest };
  const kept = pinnedElsewhere(update.guest, profile.id, profiles);
  const others = guestKeys(update.guest).filter((key) => kept.has(keyText(key)));
  const present = update.present.difference(new Set<string>(others.map(({ kind }) => kind)));
  return { id: profile.id, guest: mergeGuest(profile.guest, { ...update, present }) };
}

/**
 * An event that repeats what is stored counts too: it is newer than a message with another value that arrives later. A reservation under
 * another address or id of a merged profile keeps that address and id.
 */
function amendments(
  update: GuestUpdate,
  own: readonly Compared[],
  { reservations, profiles }: KnownPersons,
  today: LocalDate,
): GuestAmendment[] {
  const withoutKeys = { ...update, present: update.present.difference(new Set(['guest_id', 'email', 'phone'])) };
  const pins = new Set(
    profiles.flatMap(({ id, pins = [] }) =>
      own.some(({ at }) => 'profile' in at && at.profile === id) ? [...pins] : [],
    ),
  );
  const told = (guest: Guest) => (keyTexts(guest).some((key) => pins.has(key)) ? withoutKeys : update);
  return reservations.flatMap((reservation) => {
    const places = own.flatMap(({ at }) =>
      'reservation' in at && at.reservation === reservation.id ? [at.place] : [],
    );
    if (isAhead(reservation, today) || mayReturn(reservation, today))
      return places.length === 0 ? [] : [amendmentOf(reservation, places, told)];
    const agreed = places.filter((place) => reservation.guests[place]?.marketing_consent === true);
    const isWithdrawal = agreed.length > 0 && update.guest.marketing_consent === false;
    return isWithdrawal ? [amendmentOf(reservation, agreed, () => withdrawal)] : [];
  });
}

/** Of a stay that is over only this changes: a destination of bookings may have the guest by it. */
export const withdrawal: GuestUpdate = { guest: { marketing_consent: false }, present: new Set(['marketing_consent']) };

export const agreement: GuestUpdate = { ...withdrawal, guest: { marketing_consent: true } };

/** The amendment of one guest of a reservation that is still to come or in house; undefined if there is no such guest. */
export function amendGuest(
  reservation: Reservation,
  guest: Guest,
  update: GuestUpdate,
  today: LocalDate,
): GuestAmendment | undefined {
  const isShared = sharedAmong(reservation.guests, {}, [new Set(reservation.guests)]);
  const place = reservation.guests.findIndex(
    (one) => samePerson(guest, one, { isOneReservation: true, isShared }).is === 'same',
  );
  const isOpen =
    isAhead(reservation, today) || mayReturn(reservation, today) || update === withdrawal || update === agreement;
  return place === -1 || !isOpen ? undefined : amendmentOf(reservation, [place], () => update);
}

function amendmentOf(
  reservation: Reservation,
  places: readonly number[],
  told: (guest: Guest) => GuestUpdate,
): GuestAmendment {
  const guests = reservation.guests.map((guest, i) => (places.includes(i) ? mergeGuest(guest, told(guest)) : guest));
  const notes = places.flatMap((i) => mergeNotes(reservation.guests[i] ?? {}, guests[i] ?? {}, i));
  const said = places.map((i) => {
    const guest = reservation.guests[i] ?? {};
    return { values: saidOf(told(guest)), as: knownBy(guest) };
  });
  return { record: { ...reservation, guests }, said, notes };
}

function isAhead(reservation: Reservation, today: LocalDate): boolean {
  if (reservation.status === 'checked_in') return true;
  return (reservation.status === 'confirmed' || reservation.status === 'other') && reservation.check_out >= today;
}

/** Cancelled, and its stay is not over: what is said about a guest now counts if it is reinstated (`quarantine.ts`). */
const mayReturn = ({ status, check_out }: Reservation, today: LocalDate): boolean =>
  isEnded(status) && check_out >= today;

const fields = Object.keys(canonical.guests) as readonly (keyof Guest)[];

/** The fields that were sent, null for those without a usable value. */
export function saidOf({ guest, present }: Pick<GuestUpdate, 'guest' | 'present'>): Values {
  const values: { [field: string]: Json } = {};
  for (const field of present) values[field] = null;
  for (const field of fields) {
    const value = guest[field];
    if (!present.has(leaderOf(field)) || value === undefined) continue;
    if (field === 'extra') {
      delete values.extra;
      for (const [name, one] of Object.entries(guest.extra ?? {})) values[`${extraPrefix}${name}`] = one as Json;
      continue;
    }
    if (values[leaderOf(field)] === null) delete values[leaderOf(field)];
    values[field] = value as Json;
  }
  return values;
}

/** The values by which a guest of a reservation is recognised before the event changes them. */
const knownBy = (guest: Guest): Values =>
  Object.fromEntries(Object.entries(guest).filter(([field]) => identifying.has(field))) as Values;
const identifying: ReadonlySet<string> = new Set(
  'guest_id title first_name last_name email email_proxy phone date_of_birth document_type document_number'.split(' '),
);

/** Sent fields replace the known ones; fields that were not sent stay. The keys are in the schema's order. */
export function mergeGuest(known: Guest, { guest, present }: Pick<GuestUpdate, 'guest' | 'present'>): Guest {
  const merged: Record<string, unknown> = {};
  for (const field of fields) {
    const source = present.has(leaderOf(field)) ? guest : known;
    const value = field === 'extra' && source === guest ? { ...known.extra, ...guest.extra } : source[field];
    if (value !== undefined) merged[field] = value;
  }
  return merged as Guest;
}

function mergeNotes(before: Guest, after: Guest, index: number): Note[] {
  return fields
    .filter((field) => !isSame(before[field], after[field]))
    .map((field) =>
      noteOf('guest_updated', `guests[${index}].${field}`, { before: before[field], after: after[field] }),
    );
}

export const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b));
