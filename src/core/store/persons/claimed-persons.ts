import type { EntityType } from '../../../terms.ts';
import { decodeRecord, type Guest, type Reservation } from '../../canonical/reservation.ts';
import type { ClaimedPersons, LaneKey } from '../../deliver/ports.ts';
import { sharedAmong } from '../../persons/identifiers.ts';
import { ProfileIndex } from '../../persons/profile-index.ts';
import { type Candidate, findProfile } from '../../persons/profile-match.ts';
import { samePerson } from '../../persons/same-person.ts';
import { newerConsent } from '../../reconcile/consent.ts';
import { type Pool, transaction } from '../db/pool.ts';
import { claimedMentions } from './claimed-mentions.ts';
import { bookingsOf } from './profile-bookings.ts';
import { profilesLike } from './profile-lookup.ts';
import { effectiveTimes, readConsents, statedBy } from './stated.ts';

interface ClaimedVersion {
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly data: string | null;
  /** The versions that the destination has. */
  readonly delivered?: readonly string[];
}

/**
 * What the profiles of a brand know about the guests of claimed versions. A profile is assembled at the same time as its reservations are
 * delivered and may not have their statements yet, so both are compared here as the profile would.
 */
export async function claimedPersons(
  pool: Pool,
  lane: LaneKey & { readonly withMentions: boolean },
  claimed: readonly ClaimedVersion[],
): Promise<(version: ClaimedVersion) => ClaimedPersons | undefined> {
  const { integration } = lane;
  const versions = claimed.map((one) => ({ ...one, guests: guestsIn(one) }));
  const guests = versions.flatMap((one) => one.guests);
  const versionOf = new Map(versions.map((one) => [`${one.type} ${one.id}`, one]));
  if (guests.length === 0) return () => undefined;
  const reservations = versions.filter(({ type }) => type === 'reservation');
  return transaction(pool, async (tx) => {
    const bookings = await bookingsOf(tx, integration, reservations);
    const profiles = await profilesLike(tx, integration, guests, bookings.profileIds);
    const isShared = sharedAmong([...profiles.map(({ guest }) => guest), ...guests]);
    const addressed = profiles.flatMap(({ guest }) =>
      [guest.email, guest.phone].map((address) => ({ address, guest })),
    );
    const atAddress = Map.groupBy(addressed, ({ address }) => address);
    const hasOutsider = (address: string, insiders: readonly Guest[], isMeant: (guest: Guest) => boolean) =>
      atAddress
        .get(address)
        ?.some(({ guest }) => isMeant(guest) && insiders.every((one) => samePerson(one, guest).is === 'different')) ===
      true;
    const isDisputed = profiles.some(({ guest }) => guest.marketing_consent !== undefined);
    const consents = isDisputed ? await readConsents(tx, integration, reservations) : undefined;
    const index = new ProfileIndex(profiles);
    const profileIn = (reservation: string, guest: Guest) => {
      const booked = bookings.of(reservation).flatMap((id) => index.get(id) ?? []);
      const candidates = new Set([...index.sharing(withoutShared(guest, isShared)), ...booked]);
      const betweenOf = ({ id }: Candidate) => ({ isShared, isOneReservation: bookings.has(reservation, id) });
      return findProfile(guest, [...candidates], betweenOf)?.profile;
    };
    const inVersion = new Map(versions.flatMap(({ id, guests: own }) => own.map((guest) => [guest, id] as const)));
    const others = lane.withMentions
      ? await claimedMentions(tx, lane, guests, versions.flatMap(earlierIn), (guest) =>
          profileIn(inVersion.get(guest) ?? '', guest),
        )
      : unread;
    const times = isDisputed ? await effectiveTimes(tx, integration, reservations) : undefined;
    return (claim) => {
      const { type, id } = claim;
      const from = versionOf.get(`${type} ${id}`);
      const insiders = from?.guests ?? [];
      return {
        mentions: others.mentions,
        isOwner: others.isOwner,
        isShared: (address) => hasOutsider(address, insiders, () => true),
        isAgreed: (address) => hasOutsider(address, insiders, agrees) || others.isAgreed(address, insiders),
        isOutdated: (guest) => {
          const { marketing_consent: value } = guest;
          if (type === 'guest' || value === undefined || !isDisputed) return false;
          const profile = profileIn(id, guest);
          const consent = profile && (profile.consent ?? statedBy(profile.guest, profile.time[0]));
          if (from === undefined || consent === undefined) return false;
          const at = times?.get(`${id} ${from.version}`)?.at[0] ?? 0;
          const place = from.guests.findIndex((one) => one === guest || JSON.stringify(one) === JSON.stringify(guest));
          const stated = consents?.of({ from, place }) ?? statedBy(guest, at, id);
          return newerConsent(consent, stated)?.value !== value;
        },
      };
    };
  });
}

/** A shared address shows nobody: with an agency's, each guest would be compared with all of the batch. */
function withoutShared({ email, phone, ...rest }: Guest, isShared: (address: string) => boolean): Guest {
  const isOwn = (address: string) => !isShared(address);
  return { ...rest, ...(email && isOwn(email) && { email }), ...(phone && isOwn(phone) && { phone }) };
}

const unread = { mentions: () => [], isOwner: () => false, isAgreed: () => false };

const agrees = ({ marketing_consent: value }: Guest): boolean => value === true;

/** A withdrawal concerns the addresses of earlier versions too. */
const earlierIn = ({
  type,
  delivered = [],
  guests,
}: ClaimedVersion & { readonly guests: readonly Guest[] }): Guest[] =>
  guests.some(({ marketing_consent: value }) => value === false)
    ? delivered.flatMap((data) => guestsIn({ type, data }))
    : [];

function guestsIn({ type, data }: Pick<ClaimedVersion, 'type' | 'data'>): Reservation['guests'] {
  if (data === null) return [];
  return type === 'guest' ? [decodeRecord('guest', data) as Guest] : decodeRecord('reservation', data).guests;
}
