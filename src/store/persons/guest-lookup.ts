import { decodeRecord } from '../../canonical/encode.ts';
import type { Reservation } from '../../canonical/reservation.ts';
import { type GuestKey, keyText } from '../../persons/identifiers.ts';
import type { Candidate } from '../../persons/profile-match.ts';
import type { Tx } from '../db/pool.ts';
import { anyKey, keyedRecords } from '../records/search-keys.ts';
import { lockProfiles, profilesByKeys } from './profile-lookup.ts';

/** Only a shared address, such as one that a call centre enters in every booking, has more upcoming reservations. */
const mostReservations = 200;
const ahead = `'confirmed', 'checked_in', 'other'`;

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
  const { rows } = await tx.query<{ data: string }>(
    `select data::text as data from records
      where integration = $1 and type = 'reservation' and id = $2 and version > 0 and data ->> 'status' in (${ahead})`,
    [integration, id],
  );
  return rows[0] && decodeRecord('reservation', rows[0].data);
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
      where $5 or r.data ->> 'status' in (${ahead})
      order by r.data ->> 'check_out' desc limit $4`,
    [integration, anyKey('reservation', keys.map(keyText)), named ?? null, mostReservations, withPast],
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
  const { rowCount } = await tx.query(
    `select from ${keyedRecords('$2')} k
       join records r on r.integration = k.integration and r.type = 'guest' and r.id = k.id and r.version > 0
      where k.integration = any($1) and r.data ->> 'marketing_consent' = 'false'
        and r.views -> 'consent' ->> 'source' is distinct from $3 limit 1`,
    [integrations, anyKey('guest', keys.map(keyText)), by],
  );
  return rowCount === 1;
}
