import { type Guest, guestSchema, type Reservation } from '../canonical/reservation.ts';
import type { Json, LocalDate, Note } from '../terms.ts';
import {
  type Candidate,
  type GuestKeyKind,
  isSomebodyElse,
  matchProfile,
  type ProfileMatch,
  pinnedElsewhere,
  pinnedPlaces,
  placesIn,
  sameName,
} from './guest-match.ts';
import { extraPrefix } from './merge.ts';
import type { SaidItem, Values } from './statement.ts';

/** A guest event, checked and normalized. */
export interface GuestUpdate {
  readonly guest: Guest;
  /** The fields that were sent, including empty ones. All other fields keep their stored value. */
  readonly present: ReadonlySet<string>;
  /** The reservation that the event names, if any. */
  readonly reservationId?: string;
}

export interface GuestPlan {
  /** The updated profile; a new one has no id yet. */
  readonly profile: { readonly id?: string; readonly guest: Guest };
  readonly matchedBy?: GuestKeyKind;
  readonly reservations: readonly {
    readonly record: Reservation;
    /** What the event states about the reservation's guests. */
    readonly said: readonly SaidItem[];
    readonly notes: readonly Note[];
  }[];
}

/**
 * Finds the profile that a guest event changes: by a key in the event, else by a key of the matching guest in the reservation that the
 * event names. So a new e-mail address that arrives with the reservation's id stays with the same person.
 */
export function planProfile(
  update: GuestUpdate,
  profiles: readonly Candidate[],
  inReservation?: Guest,
): Omit<GuestPlan, 'reservations'> {
  const found = matchProfile(update.guest, profiles) ?? matchThrough(inReservation, update, profiles);
  if (!found) return { profile: { guest: update.guest } };
  const { candidate, by } = found;
  const kept = pinnedElsewhere(update.guest, found, profiles);
  const present = update.present.difference(kept);
  return { profile: { id: candidate.id, guest: mergeGuest(candidate.guest, { ...update, present }) }, matchedBy: by };
}

/**
 * Finds the reservations that the event changes: those in the future or in house that contain the guest, under the old details or the
 * new ones. In the reservation that the event names, the guest may also be found by name or position. A reservation under another
 * address or id of a merged profile keeps that address and id. An event that repeats what is stored counts too: it is newer than a
 * message with another value that arrives later.
 */
export function planReservations(
  update: GuestUpdate,
  profile: Candidate | undefined,
  reservations: readonly Reservation[],
  today: LocalDate,
): GuestPlan['reservations'] {
  const looks = profile === undefined ? [update.guest] : [update.guest, profile.guest];
  const withoutKeys = { ...update, present: update.present.difference(new Set(['guest_id', 'email', 'phone'])) };
  return reservations.flatMap((reservation) => {
    if (!isAhead(reservation, today)) return [];
    let places = placesIn(reservation, looks);
    if (places.length === 0 && reservation.id === update.reservationId) places = meantIn(reservation, looks);
    const pinned = places.length > 0 || profile === undefined ? [] : pinnedPlaces(reservation, profile);
    const told = pinned.length > 0 ? withoutKeys : update;
    const meant = [...places, ...pinned];
    if (meant.length === 0) return [];
    const guests = reservation.guests.map((guest, i) => (meant.includes(i) ? mergeGuest(guest, told) : guest));
    const notes = meant.flatMap((i) => mergeNotes(reservation.guests[i] ?? {}, guests[i] ?? {}, i));
    const said = meant.map((i) => ({ values: saidOf(told), as: knownBy(reservation.guests[i] ?? {}) }));
    return [{ record: { ...reservation, guests }, said, notes }];
  });
}

function matchThrough(
  inReservation: Guest | undefined,
  update: GuestUpdate,
  profiles: readonly Candidate[],
): ProfileMatch | undefined {
  const found = inReservation && matchProfile(inReservation, profiles);
  const ids = [found?.candidate.guest.guest_id, update.guest.guest_id];
  // Two different ids are two people.
  return ids[0] !== undefined && ids[1] !== undefined && ids[0] !== ids[1] ? undefined : found;
}

/** The guest of a named reservation whom the event is about; undefined if that is not certain. */
export function guestMeantIn(reservation: Reservation, update: GuestUpdate): Guest | undefined {
  const looks = [update.guest];
  const found = placesIn(reservation, looks);
  const [place, ...others] = found.length > 0 ? found : meantIn(reservation, looks);
  return place === undefined || others.length > 0 ? undefined : reservation.guests[place];
}

/** In a reservation that the event names, the guest of that name, else its only guest unless that is somebody else. */
function meantIn(reservation: Reservation, looks: readonly Guest[]): number[] {
  const named = reservation.guests.flatMap((guest, i) => (looks.some((look) => sameName(look, guest)) ? [i] : []));
  if (named.length > 0) return named;
  const [only, ...others] = reservation.guests;
  if (only === undefined || others.length > 0) return [];
  return looks.some((look) => isSomebodyElse(look, only)) ? [] : [0];
}

function isAhead(reservation: Reservation, today: LocalDate): boolean {
  if (reservation.status === 'checked_in') return true;
  return (reservation.status === 'confirmed' || reservation.status === 'other') && reservation.check_out >= today;
}

const fields = Object.keys(guestSchema.shape) as readonly (keyof Guest)[];
/** Fields that normalization derives from another field, by that field. */
const follows: { readonly [Field in keyof Guest]?: keyof Guest } = {
  email_raw: 'email',
  email_proxy: 'email',
  phone_raw: 'phone',
};

/** The fields that were sent, null for those without a usable value. */
function saidOf({ guest, present }: Pick<GuestUpdate, 'guest' | 'present'>): Values {
  const values: { [field: string]: Json } = {};
  for (const field of present) values[field] = null;
  for (const field of fields) {
    const value = guest[field];
    if (!present.has(follows[field] ?? field) || value === undefined) continue;
    if (field === 'extra') {
      delete values.extra;
      for (const [name, one] of Object.entries(guest.extra ?? {})) values[`${extraPrefix}${name}`] = one as Json;
      continue;
    }
    if (follows[field] !== undefined && values[follows[field]] === null) delete values[follows[field]];
    values[field] = value as Json;
  }
  return values;
}

/** The values by which a guest of a reservation is recognised before the event changes them. */
function knownBy({ guest_id, first_name, last_name, email, email_proxy, phone }: Guest): Values {
  const all = { guest_id, first_name, last_name, email, email_proxy, phone };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Values;
}

/** Sent fields replace the known ones; fields that were not sent stay. The keys are in the schema's order. */
export function mergeGuest(known: Guest, { guest, present }: Pick<GuestUpdate, 'guest' | 'present'>): Guest {
  const merged: Record<string, unknown> = {};
  for (const field of fields) {
    const source = present.has(follows[field] ?? field) ? guest : known;
    const value = field === 'extra' && source === guest ? { ...known.extra, ...guest.extra } : source[field];
    if (value !== undefined) merged[field] = value;
  }
  return merged as Guest;
}

function mergeNotes(before: Guest, after: Guest, index: number): Note[] {
  return fields
    .filter((field) => !isSame(before[field], after[field]))
    .map((field) => ({
      step: 'reconcile',
      field: `guests[${index}].${field}`,
      code: 'guest_updated',
      reason: 'The guest’s own profile changed.',
      ...valued('before', before[field]),
      ...valued('after', after[field]),
    }));
}

export const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b));

function valued(name: 'before' | 'after', value: Json | undefined): { before?: Json; after?: Json } {
  return value === undefined ? {} : { [name]: value };
}
