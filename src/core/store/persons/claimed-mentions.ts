import type { EntityType } from '../../../terms.ts';
import { decodeRecord, type Guest, type Reservation } from '../../canonical/reservation.ts';
import type { ClaimedPersons, PersonMention } from '../../deliver/ports.ts';
import { type GuestKey, guestKeys, hasAddress, keyText, sharedAmong } from '../../persons/identifiers.ts';
import { samePerson } from '../../persons/same-person.ts';
import type { Tx } from '../db/pool.ts';
import { anyKey, keyedRecords } from '../records/search-keys.ts';
import { bookingsOf, bookingsWith } from './profile-bookings.ts';

/** Whether somebody who is none of these agrees under this address. */
type IsAgreed = (address: string, insiders: readonly Guest[]) => boolean;

interface KeyedRecord {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  readonly isDelivered: boolean;
  readonly isCurrent: boolean;
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
  lane: { readonly integration: string; readonly destination: string },
  guests: readonly Guest[],
  earlier: readonly Guest[],
  profileOf: (guest: Guest) => { readonly id: string } | undefined,
): Promise<Pick<ClaimedPersons, 'mentions' | 'isOwner'> & { isAgreed: IsAgreed }> {
  const { integration } = lane;
  const sharing = new Map<string, KeyedRecord>();
  // Only records under the guest's own keys are compared: with all of the batch, 200 guests took 70 s instead of 1 s (calls.test.ts, busy arm64).
  const byKey = new Map<string, Set<KeyedRecord>>();
  const read = async (keys: readonly GuestKey[], profileIds: readonly string[]) => {
    for (const { key, data, seen_at, ...row } of await keyed(tx, lane, keys, profileIds)) {
      const name = JSON.stringify([row.integration, row.type, row.id]);
      const one = sharing.get(name) ?? foundOf(row, data, seen_at);
      sharing.set(name, one);
      byKey.set(key, (byKey.get(key) ?? new Set()).add(one));
    }
  };
  await read(
    [...guests, ...earlier].flatMap(guestKeys),
    guests.flatMap((guest) => profileOf(guest)?.id ?? []),
  );
  const own = [...sharing.values()].filter((one) => one.integration === integration && one.type === 'reservation');
  const bookings = await bookingsOf(tx, integration, own);
  const isShared = sharedAmong([...guests, ...[...sharing.values()].flatMap((one) => one.guests)].map(withoutId));
  /** Whoever is the first of a booking with the address has booked with it. */
  const bookersAt = (address: string) =>
    ['email', 'phone'].flatMap((kind) =>
      [...(byKey.get(`${kind}:${address}`) ?? [])].flatMap(({ type, guests: named }) =>
        type === 'reservation' ? (named.find((guest) => hasAddress(guest, address)) ?? []) : [],
      ),
    );
  const isOwner = (guest: Guest, address: string) => {
    const bookers = bookersAt(address);
    return bookers.length > 0 && bookers.every((one) => samePerson(withoutId(guest), withoutId(one)).is === 'same');
  };
  const mentions = (guest: Guest) => {
    const profile = profileOf(guest);
    // A shared address shows nobody by itself: an agency's would bring all its bookings.
    const shows = ({ kind, value }: GuestKey) =>
      kind === 'guest_id' || guest.date_of_birth !== undefined || !isShared(value);
    const keyed = [...guestKeys(guest).filter(shows).map(keyText), ...(profile ? [profile.id] : [])];
    const candidates = new Set(keyed.flatMap((key) => [...(byKey.get(key) ?? [])]));
    return [...candidates].flatMap((one): PersonMention[] => {
      const { integration: brand, type, id, isDelivered, isCurrent, record } = one;
      const isOwn = brand === integration;
      const isSame = (other: Guest) =>
        samePerson(isOwn ? guest : withoutId(guest), isOwn ? other : withoutId(other), { isShared }).is === 'same';
      const mention = one.guests.find(isSame);
      const decided = isOwn && type === 'reservation' && profile ? bookings.of(id) : [];
      const isNamed = decided.length > 0 && profile ? decided.includes(profile.id) : mention !== undefined;
      if (!isNamed) return [];
      const stay = type === 'reservation' && { stay: record as Reservation };
      return [{ integration: brand, type, id, isDelivered, isCurrent, ...(mention && { guest: mention }), ...stay }];
    });
  };
  // A withdrawal also concerns the addresses of other bookings: who else has them?
  const refusing = guests.filter(({ marketing_consent: agrees }) => agrees === false);
  const elsewhere = refusing.flatMap(mentions).flatMap(({ guest }) => (guest ? guestKeys(guest) : []));
  const unread = elsewhere.filter((key) => !byKey.has(keyText(key)));
  if (unread.length > 0) await read(unread, []);
  const isAgreed: IsAgreed = (address, insiders) =>
    ['email', 'phone'].some((kind) =>
      [...(byKey.get(`${kind}:${address}`) ?? [])].some(({ integration: brand, guests: named }) =>
        named.some(
          (guest) =>
            brand === integration &&
            guest.marketing_consent === true &&
            hasAddress(guest, address) &&
            insiders.every((one) => samePerson(withoutId(one), withoutId(guest)).is === 'different'),
        ),
      ),
    );
  return { mentions, isOwner, isAgreed };
}

/**
 * SQL: when the record `r`, which is cancelled, was seen to be cancelled. A later change of it is not another cancellation; where its
 * history is gone or begins with the cancellation, it is the first day.
 */
const seenCancelledAt = `case when r.event in ('cancelled', 'created') then r.changed_at else coalesce(
  (select max(h.at) from history h where h.integration = r.integration and h.id = r.id and h.type = r.type and h.outcome = 'cancelled'),
  r.created_at) end`;

/** The records under these keys, and the bookings of these profiles. */
async function keyed(
  tx: Tx,
  { integration, destination }: { readonly integration: string; readonly destination: string },
  keys: readonly GuestKey[],
  profileIds: readonly string[],
): Promise<(Omit<KeyedRecord, 'record' | 'guests'> & { key: string; data: string; seen_at: Date | null })[]> {
  const texts = [...new Set(keys.map(keyText))];
  const { rows } = await tx.query(
    `with named as (
       select t.key, k.integration, k.type, k.id from unnest($3::text[], $7::text[]) as t (key, query)
        cross join lateral (
          select k.integration, k.type, k.id from ${keyedRecords('t.query')} k
           where (k.integration = $1 or (t.key = any($4) and exists (
                    select from outbox o
                     where o.integration = k.integration and o.id = k.id and o.type = k.type and o.destination = $2)))
           limit $6) k
       union
       select p.id, $1, 'reservation', b.reservation_id from unnest($5::text[]) as p (id)
        cross join lateral (${bookingsWith('p.id')}) b)
     select n.*, r.data::text as data, case when r.data ->> 'status' = 'cancelled' then ${seenCancelledAt} end as seen_at,
            coalesce(o.delivered_version > 0 and not o.removed, false) as "isDelivered",
            coalesce(o.delivered_version = r.version and not o.removed, false) as "isCurrent"
       from named n
       join records r on r.integration = n.integration and r.type = n.type and r.id = n.id and r.version > 0
       left join outbox o on o.integration = n.integration and o.destination = $2 and o.type = n.type and o.id = n.id`,
    [
      integration,
      destination,
      texts,
      keys.filter(({ kind }) => kind !== 'guest_id').map(keyText),
      profileIds,
      mostOfKey,
      texts.map((key) => `${anyKey('reservation', [key])} | ${anyKey('guest', [key])}`),
    ],
  );
  return rows;
}

function foundOf(row: Omit<KeyedRecord, 'record' | 'guests'>, data: string, seenAt: Date | null): KeyedRecord {
  if (row.type === 'guest') {
    const guest = decodeRecord('guest', data);
    return { ...row, record: guest, guests: [guest] };
  }
  const record = decodeRecord('reservation', data);
  // Few partners say when a booking was cancelled.
  const seen = seenAt !== null && { cancelled_at: seenAt.toISOString() };
  return { ...row, record: { ...seen, ...record }, guests: record.guests };
}

/** Ids of two systems are not compared. */
const withoutId = ({ guest_id: _, ...guest }: Guest): Guest => guest;
