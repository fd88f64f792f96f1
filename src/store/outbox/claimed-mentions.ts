import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import type { PersonMention } from '../../deliver/ports.ts';
import { guestKeys, keyText } from '../../persons/identifiers.ts';
import { samePerson } from '../../persons/same-person.ts';
import { sharedAmong } from '../../persons/shared.ts';
import type { EntityType } from '../../terms.ts';
import type { Tx } from '../db/pool.ts';
import { bookingsOf, bookingsWith } from '../records/profile-bookings.ts';

interface Found {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  readonly isDelivered: boolean;
  readonly record: Reservation | Guest;
  readonly guests: readonly Guest[];
}

/** More records of one address are not read: an agency's address is shared long before. */
const mostOfKey = 200;

/**
 * The records that name the guests of a claim: their profiles and all their bookings of this brand, past ones included, and what other
 * brands deliver to the same destination. A vendor has one contact for an address, whichever brand it comes from. They are found by their keys,
 * which are written with each record, so nothing waits for the profiles; what a profile or an operator has decided goes first.
 */
export async function claimedMentions(
  tx: Tx,
  { integration, destination }: { readonly integration: string; readonly destination: string },
  guests: readonly Guest[],
  profileOf: (guest: Guest) => { readonly id: string } | undefined,
): Promise<(guest: Guest) => readonly PersonMention[]> {
  const keys = guests.flatMap(guestKeys);
  const profileIds = guests.flatMap((guest) => profileOf(guest)?.id ?? []);
  const { rows } = await tx.query<Omit<Found, 'record' | 'guests'> & { data: string }>(
    `with named as (
       select k.integration, k.type, k.id from unnest($3::text[]) as t (key)
        cross join lateral (
          select k.integration, k.type, k.id from guest_keys k
           where k.key = t.key
             and (k.integration = $1 or (t.key = any($4) and exists (
                    select from outbox o
                     where o.integration = k.integration and o.id = k.id and o.type = k.type and o.destination = $2)))
           limit $6) k
       union
       select $1, 'reservation', b.reservation_id from unnest($5::text[]) as p (id)
        cross join lateral (${bookingsWith('$1', 'p.id')}) b)
     select n.*, r.data::text as data, coalesce(o.delivered_version > 0 and not o.removed, false) as "isDelivered"
       from named n
       join records r on r.integration = n.integration and r.type = n.type and r.id = n.id and r.version > 0
       left join outbox o on o.integration = n.integration and o.destination = $2 and o.type = n.type and o.id = n.id`,
    [
      integration,
      destination,
      [...new Set(keys.map(keyText))],
      keys.filter(({ kind }) => kind !== 'guest_id').map(keyText),
      profileIds,
      mostOfKey,
    ],
  );
  const found = rows.map(({ data, ...row }): Found => {
    const record = decodeRecord(row.type, data);
    return { ...row, record, guests: row.type === 'guest' ? [record as Guest] : (record as Reservation).guests };
  });
  const own = found.filter((one) => one.integration === integration && one.type === 'reservation');
  const bookings = await bookingsOf(
    tx,
    integration,
    own.map(({ id }) => id),
  );
  const isShared = sharedAmong([...guests, ...found.flatMap((one) => one.guests)].map(withoutId));
  return (guest) => {
    const profile = profileOf(guest);
    return found.flatMap((one): PersonMention[] => {
      const { integration: brand, type, id, isDelivered, record } = one;
      const isOwn = brand === integration;
      const isSame = (other: Guest) =>
        samePerson(isOwn ? guest : withoutId(guest), isOwn ? other : withoutId(other), { isShared }).is === 'same';
      const mention = one.guests.find(isSame);
      const decided = isOwn && type === 'reservation' && profile ? bookings.of(id) : [];
      const isNamed = decided.length > 0 && profile ? decided.includes(profile.id) : mention !== undefined;
      if (!isNamed) return [];
      const stay = type === 'reservation' && { stay: record as Reservation };
      return [{ integration: brand, type, id, isDelivered, ...(mention && { guest: mention }), ...stay }];
    });
  };
}

/** Ids of two systems are not compared. */
const withoutId = ({ guest_id: _, ...guest }: Guest): Guest => guest;
