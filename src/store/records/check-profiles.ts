import type { Brand } from '../../brand/brand.ts';
import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { guestKeys, keyTexts } from '../../persons/identifiers.ts';
import { withoutOthers } from '../../reconcile/check-profile.ts';
import { type Difference, difference } from '../../reconcile/difference.ts';
import { continuedBy } from '../../reconcile/separate-profile.ts';
import type { Json } from '../../terms.ts';
import { type Pool, type Tx, transaction } from '../db/pool.ts';
import { bookingsWith } from './profile-bookings.ts';
import { writeProfiles } from './profile-edit.ts';
import { lockProfiles, type Profile, profilesById } from './profile-lookup.ts';
import { assembleProfiles } from './profiles.ts';
import { anyKey, keyedRecords } from './search-keys.ts';

export interface CheckedProfiles {
  readonly read: number;
  readonly changed: readonly { readonly id: string; readonly diff: readonly Difference[] }[];
  /** The last profile that was read; undefined at the end. */
  readonly last: string | undefined;
}

/** More bookings of one key are not read: nobody has so many, so the key is an agency's. */
const mostBookings = 200;

/**
 * Checks the next profiles after an id against the bookings that they come from, and removes the values of other persons. These then get
 * profiles of their own. `isPreview` changes nothing.
 */
export async function checkProfiles(
  pool: Pool,
  target: Brand,
  after: string,
  limit: number,
  isPreview: boolean,
): Promise<CheckedProfiles> {
  const { integration } = target;
  const { rows } = await pool.query<{ id: string }>(
    `select id from records where integration = $1 and type = 'guest' and version > 0 and id > $2 order by id limit $3`,
    [integration, after, limit],
  );
  const changed: { id: string; diff: readonly Difference[] }[] = [];
  for (const { id } of rows) {
    const done = await transaction(pool, (tx) => checkProfile(tx, target, id, isPreview));
    if (done === undefined) continue;
    changed.push({ id, diff: done.diff });
    if (!isPreview) await assembleProfiles(pool, target, done.bookings);
  }
  return { read: rows.length, changed, last: rows.length < limit ? undefined : rows.at(-1)?.id };
}

async function checkProfile(tx: Tx, target: Brand, id: string, isPreview: boolean) {
  const { integration } = target;
  await lockProfiles(tx, integration);
  const [profile] = await profilesById(tx, integration, [id]);
  if (profile === undefined || Object.keys(profile.guest).length === 0) return undefined;
  if (continuedBy(profile.guest) !== undefined) return undefined;
  const bookings = await bookingsNear(tx, integration, profile);
  const mentions = bookings.flatMap(({ id: list, guests, isLinked }) =>
    guests.filter((guest) => guestKeys(guest).length > 0).map((guest) => ({ guest, list, isLinked })),
  );
  const clean = withoutOthers(profile.guest, mentions);
  const diff = difference(profile.guest as Json, clean as Json);
  if (diff.length === 0) return undefined;
  if (!isPreview) {
    const reason = 'The check of profiles removed values of another person.';
    // A consent of unknown origin is nobody's.
    const consent = clean.marketing_consent === profile.guest.marketing_consent ? profile.consent : undefined;
    await writeProfiles(tx, target, 'profile check', [{ id, guest: clean, consent, reason }]);
  }
  return { diff, bookings };
}

async function bookingsNear(tx: Tx, integration: string, { id, guest }: Profile) {
  const { rows } = await tx.query<{ id: string; version: number; data: string; is_linked: boolean }>(
    `select r.id, r.version, r.data::text as data, bool_or(k.is_linked) as is_linked
       from (select reservation_id as id, true as is_linked from (${bookingsWith('$2')}) own
             union all select id, false from ${keyedRecords('$3')} k where integration = $1) k
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = k.id and r.version > 0
      group by r.id, r.version, r.data::text, r.effective_at order by r.effective_at limit $4`,
    [integration, id, anyKey('reservation', keyTexts(guest)), mostBookings],
  );
  return rows.map((row): { id: string; version: number; isLinked: boolean; guests: Reservation['guests'] } => ({
    id: row.id,
    version: row.version,
    isLinked: row.is_linked,
    guests: decodeRecord('reservation', row.data).guests as Guest[],
  }));
}

/** The next reservations that more than one source made, with a source and its time: their guests may have been merged by earlier rules. */
export async function mergedReservations(
  pool: Pool,
  integration: string,
  after: string,
  limit: number,
): Promise<{
  readonly found: readonly { readonly id: string; readonly source: 'pull' | 'single' | 'push'; readonly at: number }[];
  readonly read: number;
  readonly last: string | undefined;
}> {
  const { rows } = await pool.query<{ id: string; source: 'pull' | 'single' | 'push' | null; at: number | null }>(
    `select r.id, s.source, s.at
       from records r
       left join lateral (
         select key as source, (value -> 'moment' ->> 0)::float8 as at from json_each(r.views)
          where (select count(*) from json_object_keys(r.views)) > 1 and key in ('pull', 'single', 'push')
          order by at desc limit 1) s on true
      where r.integration = $1 and r.type = 'reservation' and r.version > 0 and r.id > $2
      order by r.id limit $3`,
    [integration, after, limit],
  );
  const found = rows.flatMap(({ id, source, at }) => (source === null || at === null ? [] : [{ id, source, at }]));
  return { found, read: rows.length, last: rows.length < limit ? undefined : rows.at(-1)?.id };
}
