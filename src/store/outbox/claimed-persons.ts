import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import type { ClaimedPersons } from '../../deliver/ports.ts';
import type { LaneKey } from '../../deliver/queued-lanes.ts';
import { findProfile } from '../../persons/profile-match.ts';
import { samePerson } from '../../persons/same-person.ts';
import { hasAddress, sharedAmong } from '../../persons/shared.ts';
import { newerConsent } from '../../reconcile/consent.ts';
import type { EntityType } from '../../terms.ts';
import { type Pool, transaction } from '../db/pool.ts';
import { bookingsOf } from '../records/profile-bookings.ts';
import { profilesLike } from '../records/profile-lookup.ts';
import { effectiveTimes, readConsents, statedBy } from '../records/profiles.ts';
import { claimedMentions } from './claimed-mentions.ts';

interface ClaimedVersion {
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly data: string | null;
}

/**
 * What the profiles of a brand know about the guests of claimed versions. A profile is assembled at the same time as its reservations are
 * delivered and may not have their statements yet, so both are compared here as the profile would.
 */
export async function claimedPersons(
  pool: Pool,
  lane: LaneKey & { readonly withMentions: boolean },
  claimed: readonly ClaimedVersion[],
): Promise<(version: ClaimedVersion) => ClaimedPersons> {
  const { integration } = lane;
  const versions = claimed.map((one) => ({ ...one, guests: guestsIn(one) }));
  const guests = versions.flatMap((one) => one.guests);
  if (guests.length === 0) return () => nobody;
  const reservations = versions.filter(({ type }) => type === 'reservation');
  return transaction(pool, async (tx) => {
    const bookings = await bookingsOf(
      tx,
      integration,
      reservations.map(({ id }) => id),
    );
    const profiles = await profilesLike(tx, integration, guests, bookings.profileIds);
    const isShared = sharedAmong([...profiles.map(({ guest }) => guest), ...guests]);
    const outsiders = (address: string, insiders: readonly Guest[]) =>
      profiles.filter(
        ({ guest }) => hasAddress(guest, address) && insiders.every((one) => samePerson(one, guest).is === 'different'),
      );
    const isDisputed = profiles.some(({ guest }) => guest.marketing_consent !== undefined);
    const consents = isDisputed ? await readConsents(tx, integration, reservations) : undefined;
    const profileIn = (reservation: string, guest: Guest) =>
      findProfile(guest, profiles, (profile) => ({ isShared, isOneReservation: bookings.has(reservation, profile.id) }))
        ?.profile;
    const inVersion = new Map(versions.flatMap(({ id, guests: own }) => own.map((guest) => [guest, id] as const)));
    const mentions = lane.withMentions
      ? await claimedMentions(tx, lane, guests, (guest) => profileIn(inVersion.get(guest) ?? '', guest))
      : () => [];
    const times = isDisputed ? await effectiveTimes(tx, integration, reservations) : undefined;
    return (claim) => {
      const { type, id, version } = claim;
      const insiders = versions.find((one) => one.type === type && one.id === id)?.guests ?? [];
      return {
        mentions,
        isShared: (address) => outsiders(address, insiders).length > 0,
        isAgreed: (address) => outsiders(address, insiders).some(({ guest }) => guest.marketing_consent === true),
        isOutdated: (guest) => {
          const { marketing_consent: value } = guest;
          if (type === 'guest' || value === undefined || !isDisputed) return false;
          const from = reservations.find((one) => one.id === id && one.version === version);
          const profile = profileIn(id, guest);
          const consent = profile && (profile.consent ?? statedBy(profile.guest, profile.moment[0]));
          if (from === undefined || consent === undefined) return false;
          const at = times?.get(`${id} ${version}`)?.[0] ?? 0;
          const place = from.guests.findIndex((one) => one === guest || JSON.stringify(one) === JSON.stringify(guest));
          const stated = consents?.of({ from, place }) ?? statedBy(guest, at);
          return newerConsent(consent, stated)?.value !== value;
        },
      };
    };
  });
}

const nobody: ClaimedPersons = {
  isOutdated: () => false,
  isShared: () => false,
  isAgreed: () => false,
  mentions: () => [],
};

function guestsIn({ type, data }: ClaimedVersion): Reservation['guests'] {
  if (data === null) return [];
  return type === 'guest' ? [decodeRecord('guest', data) as Guest] : decodeRecord('reservation', data).guests;
}
