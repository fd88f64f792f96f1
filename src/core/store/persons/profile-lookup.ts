import { hash } from 'node:crypto';
import { decodeRecord, type Guest, type Reservation } from '../../canonical/reservation.ts';
import { type GuestKey, type GuestKeyKind, keyText, keyTexts, newProfileId } from '../../persons/identifiers.ts';
import type { Candidate } from '../../persons/profile-match.ts';
import type { Consent } from '../../reconcile/consent.ts';
import type { FieldTimes, Time } from '../../reconcile/content.ts';
import type { StoredClaims } from '../../reconcile/stored-claims.ts';
import { cellOf, columnOf, hitsOne, rowsOf, type Tx } from '../db/pool.ts';
import { anyKey, equalNameKeys, keyedRecords } from '../records/search-keys.ts';

/** A stored profile, with the time of its state. */
export interface Profile extends Candidate {
  readonly version: number;
  readonly time: Time;
  readonly consent?: Consent | undefined;
  readonly times?: FieldTimes | undefined;
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
    claims: StoredClaims | null;
    pins: string[] | null;
  }>(
    `select r.id, r.version, r.data::text as data, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq, r.claims,
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
  return rows.map(({ id, version, data, ms, seq, claims, pins }) => ({
    id,
    version,
    guest: decodeRecord('guest', data),
    time: [ms, seq],
    consent: claims?.consent,
    times: claims?.times,
    ...(pins && { pins: new Set(pins) }),
  }));
}

/** Only a shared address, such as one that a call centre enters in every booking, has more upcoming reservations. */
const mostReservations = 200;
/** Upcoming and in-house stays, and cancelled ones whose days are not over: they may be reinstated. */
const ahead = (data: string): string =>
  `(${data} ->> 'status' in ('confirmed', 'checked_in', 'other') or ${data} ->> 'check_out' >= (current_date - 1)::text)`;

/** The stored reservations of these ids, locked in the order of the ids. */
export async function lockReservations(
  tx: Tx,
  integration: string,
  ids: readonly string[],
): Promise<Map<string, Reservation>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.query<{ id: string; data: string }>(
    `select id, data::text as data from records
      where integration = $1 and type = 'reservation' and id = any($2) and version > 0 order by id for update`,
    [integration, ids],
  );
  return new Map(rows.map((row) => [row.id, decodeRecord('reservation', row.data)]));
}

/** Profiles that share a key, locked until the commit. */
export async function findProfiles(tx: Tx, integration: string, keys: readonly GuestKey[]): Promise<Candidate[]> {
  if (keys.length === 0) return [];
  await lockProfiles(tx, integration);
  return profilesByKeys(tx, integration, keys);
}

/** An upcoming or in-house reservation; not locked. */
export async function readReservationAhead(tx: Tx, integration: string, id: string): Promise<Reservation | undefined> {
  const data = await cellOf(tx)<string>(
    `select data::text as data from records
      where integration = $1 and type = 'reservation' and id = $2 and version > 0 and ${ahead('data')}`,
    [integration, id],
  );
  return data === undefined ? undefined : decodeRecord('reservation', data);
}

/** Upcoming and in-house reservations, or all, with a guest that has one of these keys, and the named one; all locked. */
export async function findReservationsOf(
  tx: Tx,
  integration: string,
  keys: readonly GuestKey[],
  named: string | undefined,
  withPast: boolean,
): Promise<Reservation[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select r.id
       from (select id from ${keyedRecords('$2')} k where integration = $1
             union select $3::text where $3::text is not null) k
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = k.id and r.version > 0
      where $5 or ${ahead('r.data')}
      order by r.data ->> 'check_out' desc limit $4`,
    [integration, anyKey('reservation', keys.map(keyText)), named, mostReservations, withPast],
  );
  const locked = await lockReservations(tx, integration, rows.map((row) => row.id).sort());
  return [...locked.values()];
}

/** Whether a profile of one of these brands with one of these keys refuses marketing, by another statement than that of `by`. */
export async function isRefusedAt(
  tx: Tx,
  integrations: readonly string[],
  keys: readonly GuestKey[],
  by: string,
): Promise<boolean> {
  if (integrations.length === 0) return false;
  return hitsOne(tx)(
    `select from ${keyedRecords('$2')} k
       join records r on r.integration = k.integration and r.type = 'guest' and r.id = k.id and r.version > 0
      where k.integration = any($1) and r.data ->> 'marketing_consent' = 'false'
        and r.claims -> 'consent' ->> 'source' is distinct from $3 limit 1`,
    [integrations, anyKey('guest', keys.map(keyText)), by],
  );
}

const digest = (text: string): string => hash('sha256', text);

/**
 * Ids for new profiles of these guests. No id is given twice: the profile that has it may be merged into another one, have another address
 * by now, or be one of many at a shared address. Usually one query for all guests.
 */
export async function profileIds(
  tx: Tx,
  integration: string,
  guests: readonly Guest[],
): Promise<(guest: Guest) => Promise<string | undefined>> {
  const first = new Set(guests.flatMap((guest) => newProfileId(integration, guest, () => false, digest) ?? []));
  const taken = await storedIds(tx, integration, [...first]);
  return async (guest) => {
    for (;;) {
      const id = newProfileId(integration, guest, (one) => taken.has(one), digest);
      if (id === undefined) return undefined;
      taken.add(id);
      if (first.has(id) || (await storedIds(tx, integration, [id])).size === 0) return id;
    }
  };
}

async function storedIds(tx: Tx, integration: string, ids: readonly string[]): Promise<Set<string>> {
  return new Set(
    await columnOf(tx)(`select id from records where integration = $1 and type = 'guest' and id = any($2)`, [
      integration,
      ids,
    ]),
  );
}

/** An address or number with more than one profile. */
interface CommonKey {
  readonly kind: Exclude<GuestKeyKind, 'guest_id'>;
  readonly value: string;
  readonly profiles: number;
  readonly bookings: number;
}

/** The addresses and numbers of a brand that several profiles have, those with the most profiles first. Reads all keys of the brand. */
export const commonKeys = (tx: Tx, integration: string, limit: number): Promise<CommonKey[]> =>
  rowsOf(tx)(
    `select split_part(key, ':', 1) as kind, substr(key, strpos(key, ':') + 1) as value, profiles,
            (select count(*)::int from ${keyedRecords('common.query')} b where b.integration = $1) as bookings
       from (select substr(word, 7) as key, count(*)::int as profiles,
                    '''reservation ' || replace(replace(substr(word, 7), '\\', '\\\\'), '''', '''''') || '''' as query
               from records cross join unnest(tsvector_to_array(keys)) as word
              where integration = $1 and type = 'guest' and (word like 'guest email:%' or word like 'guest phone:%')
              group by word having count(*) > 1
              order by count(*) desc, word limit $2) common
      order by profiles desc, key`,
    [integration, limit],
  );
