import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { guestKeys, matchProfile } from '../../reconcile/guest-match.ts';
import type { EntityType } from '../../terms.ts';
import { type Pool, transaction } from '../db/pool.ts';
import { profilesByKeys } from '../records/profile-lookup.ts';
import { effectiveTimes } from '../records/profiles.ts';

interface ClaimedVersion {
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly data: string | null;
}

type HasRefused = (guest: Guest) => boolean;

/**
 * Which guests who agree to marketing in these reservations have a profile with a later no. A no from before the reservation does not
 * count: the profile is assembled at the same time as the reservation is delivered, and may not have its yes yet.
 */
export async function refusalsOf(
  pool: Pool,
  integration: string,
  claimed: readonly ClaimedVersion[],
): Promise<(version: ClaimedVersion) => HasRefused | undefined> {
  const agreeing = claimed.filter(({ type, data }) => type === 'reservation' && mayAgree(data));
  const keys = agreeing.flatMap(({ data }) => guestsIn(data).flatMap(guestKeys));
  if (keys.length === 0) return () => undefined;
  const [profiles, times] = await transaction(pool, async (tx) => [
    await profilesByKeys(tx, integration, keys),
    await effectiveTimes(tx, integration, agreeing),
  ]);
  if (profiles.every(({ guest }) => guest.marketing_consent !== false)) return () => undefined;
  return ({ id, version }) => {
    const statedAt = times.get(`${id} ${version}`)?.effectiveAt ?? 0;
    return (guest) => {
      const { candidate } = matchProfile(guest, profiles) ?? {};
      if (candidate?.guest.marketing_consent !== false) return false;
      return (candidate.consent?.at ?? candidate.effectiveAt) > statedAt;
    };
  };
}

const mayAgree = (data: string | null): boolean => data !== null && /"marketing_consent": ?true/.test(data);

const guestsIn = (data: string | null): Reservation['guests'] =>
  data === null ? [] : decodeRecord('reservation', data).guests.filter((guest) => guest.marketing_consent === true);
