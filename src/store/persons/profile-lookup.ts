import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest } from '../../canonical/reservation.ts';
import { type GuestKey, keyText, keyTexts } from '../../persons/identifiers.ts';
import type { Candidate } from '../../persons/profile-match.ts';
import type { Consent } from '../../reconcile/consent.ts';
import type { Moment } from '../../reconcile/says.ts';
import type { StoredViews } from '../../reconcile/stored-views.ts';
import type { Tx } from '../db/pool.ts';
import { anyKey, equalNameKeys, keyedRecords } from '../records/search-keys.ts';

/** A stored profile, with the time of its state. */
export interface Profile extends Candidate {
  readonly version: number;
  readonly moment: Moment;
  readonly consent?: Consent | undefined;
}

/** Locks the profiles of a brand until the commit, so that a new guest gets one profile only. */
export async function lockProfiles(tx: Tx, integration: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('profiles ' || $1, 0))`, [integration]);
}

/** More profiles with one key are not compared: an address that so many have is shared. */
const mostOfKey = 50;

/** Profiles that share a key, by their record or by an operator's decision. */
export function profilesByKeys(tx: Tx, integration: string, keys: readonly GuestKey[]): Promise<Profile[]> {
  return readProfiles(tx, integration, keys.map(keyText), []);
}

/** Profiles that share a key, or the name and a birth date, with one of these guests; and those with these ids. */
export function profilesLike(
  tx: Tx,
  integration: string,
  guests: readonly Guest[],
  ids: readonly string[],
): Promise<Profile[]> {
  const names = guests.flatMap((guest) => (guest.date_of_birth === undefined ? [] : equalNameKeys(guest)));
  return readProfiles(tx, integration, [...guests.flatMap(keyTexts), ...names], ids);
}

export function profilesById(tx: Tx, integration: string, ids: readonly string[]): Promise<Profile[]> {
  return readProfiles(tx, integration, [], ids);
}

async function readProfiles(
  tx: Tx,
  integration: string,
  keys: readonly string[],
  ids: readonly string[],
): Promise<Profile[]> {
  const { rows } = await tx.query<{
    id: string;
    version: number;
    data: string;
    ms: number;
    seq: number;
    views: StoredViews | null;
    pins: string[] | null;
  }>(
    `select r.id, r.version, r.data::text as data, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq, r.views,
            (select array_agg(p.key) from profile_pins p where p.integration = $1 and p.profile_id = r.id) as pins
       from (select k.id from unnest($5::text[]) as t (query)
              cross join lateral (select id from ${keyedRecords('t.query')} k where integration = $1 order by id limit $4) k
             union select profile_id from profile_pins where integration = $1 and key = any($2)
             union select unnest($3::text[])) k
       join records r on r.integration = $1 and r.type = 'guest' and r.id = k.id and r.version > 0
      order by r.id`,
    [
      integration,
      [...new Set(keys)],
      [...new Set(ids)],
      mostOfKey,
      [...new Set(keys)].map((key) => anyKey('guest', [key])),
    ],
  );
  return rows.map(({ id, version, data, ms, seq, views, pins }) => ({
    id,
    version,
    guest: decodeRecord('guest', data),
    moment: [ms, seq],
    consent: views?.consent,
    ...(pins && { pins: new Set(pins) }),
  }));
}
