import type { Guest, Reservation } from '../canonical/reservation.ts';

/**
 * Guests of one brand are the same person by guest_id, else by e-mail, else by phone. An alias address of a booking site
 * identifies nobody. Two different ids are two people, whatever they share: families book with one address.
 */
const keyKinds = ['guest_id', 'email', 'phone'] as const;
export type GuestKeyKind = (typeof keyKinds)[number];

export interface GuestKey {
  readonly kind: GuestKeyKind;
  readonly value: string;
}

/** The keys that identify a guest, strongest first. */
export function guestKeys(guest: Guest): GuestKey[] {
  const keys: GuestKey[] = [];
  if (guest.guest_id !== undefined && guest.guest_id !== '') keys.push({ kind: 'guest_id', value: guest.guest_id });
  if (guest.email !== undefined && guest.email !== '' && guest.email_proxy !== true) {
    keys.push({ kind: 'email', value: guest.email });
  }
  if (guest.phone !== undefined && guest.phone !== '') keys.push({ kind: 'phone', value: guest.phone });
  return keys;
}

/** A key as text, for lookups. */
export function keyText({ kind, value }: GuestKey): string {
  return `${kind}:${value}`;
}

/**
 * The id of a new profile, derived from its strongest key, so that two nodes that see the guest at the same time create one
 * profile. It stays when the guest's details change. `digest` hides the key, because ids appear in logs.
 */
export function profileId(integration: string, guest: Guest, digest: (text: string) => string): string | undefined {
  const [strongest] = guestKeys(guest);
  return strongest && `gst_${digest(JSON.stringify([integration, strongest.kind, strongest.value])).slice(0, 24)}`;
}

export interface Candidate {
  readonly id: string;
  readonly guest: Guest;
  /** Keys that an operator gave to this profile by a merge or a split. No other profile gets them. */
  readonly pins?: ReadonlySet<string>;
}

export interface ProfileMatch<Profile extends Candidate = Candidate> {
  readonly candidate: Profile;
  readonly by: GuestKeyKind;
  readonly isPinned: boolean;
}

/** The profile of this guest among candidates that share a key; of several, the one with the smallest id, so that all nodes agree. */
export function matchProfile<Profile extends Candidate>(
  guest: Guest,
  candidates: readonly Profile[],
): ProfileMatch<Profile> | undefined {
  for (const key of guestKeys(guest)) {
    const pinned = candidates.find(({ pins }) => pins?.has(keyText(key)));
    if (pinned !== undefined) {
      if (key.kind !== 'guest_id' && hasOtherId(guest, pinned.guest)) continue;
      return { candidate: pinned, by: key.kind, isPinned: true };
    }
    const fitting = candidates.filter((one) => matchedBy(guest, one.guest) === key.kind);
    const [first, ...others] = fitting;
    if (first === undefined) continue;
    const candidate = others.reduce((best, one) => (one.id < best.id ? one : best), first);
    return { candidate, by: key.kind, isPinned: false };
  }
  return undefined;
}

const hasOtherId = (a: Guest, b: Guest): boolean =>
  a.guest_id !== undefined && b.guest_id !== undefined && a.guest_id !== b.guest_id;

/**
 * What a guest may give to the profile that it matched: not the addresses that an operator gave to another profile, and not a second
 * guest id where the profile was merged from two.
 */
export function pinnedElsewhere(
  guest: Guest,
  { candidate, isPinned }: ProfileMatch,
  candidates: readonly Candidate[],
): ReadonlySet<GuestKeyKind> {
  const others = candidates.filter((one) => one.id !== candidate.id);
  const kinds = guestKeys(guest)
    .filter((key) => others.some(({ pins }) => pins?.has(keyText(key))))
    .map(({ kind }) => kind);
  return new Set([...kinds, ...(isPinned && hasOtherId(guest, candidate.guest) ? (['guest_id'] as const) : [])]);
}

/** The strongest key that two guests share; undefined if they share none or their ids differ. */
function matchedBy(a: Guest, b: Guest): GuestKeyKind | undefined {
  if (a.guest_id !== undefined && b.guest_id !== undefined) return a.guest_id === b.guest_id ? 'guest_id' : undefined;
  const known = new Set(guestKeys(b).map(keyText));
  return guestKeys(a).find((key) => known.has(keyText(key)))?.kind;
}

/**
 * The positions of a guest in a reservation. `looks` are the guest's details as updated and as stored before. If several
 * companions share an address, those with the same name; if no name matches, the first, who made the booking. Families share a phone
 * number, so by phone only a guest who may have the same name.
 */
export function placesIn(reservation: Reservation, looks: readonly Guest[]): number[] {
  for (const kind of keyKinds) {
    const isFound = (look: Guest, guest: Guest) =>
      matchedBy(look, guest) === kind && (kind !== 'phone' || !isSomebodyElse(look, guest));
    const places = reservation.guests.flatMap((guest, i) => (looks.some((look) => isFound(look, guest)) ? [i] : []));
    if (places.length <= 1 || kind === 'guest_id') {
      if (places.length > 0) return places;
      continue;
    }
    const named = places.filter((i) => looks.some((look) => sameName(look, reservation.guests[i])));
    return named.length > 0 ? named : places.slice(0, 1);
  }
  return [];
}

/**
 * The positions of guests with a key that an operator gave to this profile. A guest id that the profile does not have is another
 * person's; a phone number counts only under the same name, as in matching.
 */
export function pinnedPlaces(reservation: Reservation, { guest: own, pins }: Candidate): number[] {
  if (pins === undefined) return [];
  const places = reservation.guests.flatMap((guest, i) => {
    const [first, ...others] = guestKeys(guest);
    if (first?.kind === 'guest_id') return pins.has(keyText(first)) ? [i] : [];
    const isPinned = [first, ...others].some(
      (key) => key && pins.has(keyText(key)) && (key.kind === 'email' || sameName(own, guest)),
    );
    return isPinned ? [i] : [];
  });
  const named = places.filter((i) => sameName(own, reservation.guests[i]));
  return named.length > 0 ? named : places.slice(0, 1);
}

/** The keys that an operator gave to a profile. */
export const pinnedKeys = ({ pins }: Candidate): GuestKey[] =>
  [...(pins ?? [])].flatMap((text) => {
    const kind = keyKinds.find((one) => text.startsWith(`${one}:`));
    return kind === undefined ? [] : [{ kind, value: text.slice(kind.length + 1) }];
  });

/** Another id or another first name; a surname may change. */
export function isSomebodyElse(a: Guest, b: Guest): boolean {
  const differ = (one: string | undefined, other: string | undefined) =>
    one !== undefined && other !== undefined && one.toLowerCase() !== other.toLowerCase();
  if (differ(a.guest_id, b.guest_id)) return true;
  const first = (guest: Guest) => guest.first_name?.split(/[\s-]/, 1)[0];
  return first(a) !== undefined && first(b) !== undefined
    ? differ(first(a), first(b))
    : differ(a.last_name, b.last_name);
}

export function sameName(a: Guest, b: Guest | undefined): boolean {
  const name = (guest: Guest) => `${guest.first_name ?? ''} ${guest.last_name ?? ''}`.trim().toLowerCase();
  return b !== undefined && name(a) !== '' && name(a) === name(b);
}
