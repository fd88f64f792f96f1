import { decodeRecord } from '../../canonical/encode.ts';
import type { Consent } from '../../reconcile/consent.ts';
import { type Candidate, type GuestKey, keyText } from '../../reconcile/guest-match.ts';
import type { StoredViews } from '../../reconcile/said.ts';
import type { EpochMs } from '../../terms.ts';
import type { Tx } from '../db/pool.ts';

/** A stored profile, with the time of its state. */
export interface Profile extends Candidate {
  readonly version: number;
  readonly effectiveAt: EpochMs;
  readonly seq: number;
  readonly consent?: Consent | undefined;
}

/** Locks the profiles of a brand until the commit, so that a new guest gets one profile only. */
export async function lockProfiles(tx: Tx, integration: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('profiles ' || $1, 0))`, [integration]);
}

/** Profiles that share a key, by their record or by an operator's decision. */
export function profilesByKeys(
  tx: Tx,
  integration: string,
  keys: readonly GuestKey[],
  limit?: number,
): Promise<Profile[]> {
  return readProfiles(
    tx,
    `select id from guest_keys where integration = $1 and key = any($2) and type = 'guest'
     union select profile_id from profile_pins where integration = $1 and key = any($2)`,
    [integration, [...new Set(keys.map(keyText))]],
    limit,
  );
}

export function profilesById(tx: Tx, integration: string, ids: readonly string[]): Promise<Profile[]> {
  return readProfiles(tx, 'select unnest($2::text[]) as id', [integration, ids]);
}

async function readProfiles(
  tx: Tx,
  ids: string,
  values: readonly [integration: string, sought: readonly string[]],
  limit: number | null = null,
): Promise<Profile[]> {
  const { rows } = await tx.query<{
    id: string;
    version: number;
    data: string;
    ms: number;
    seq: number;
    said: StoredViews | null;
    pins: string[] | null;
  }>(
    `select r.id, r.version, r.data::text as data, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq, r.said,
            (select array_agg(p.key) from profile_pins p where p.integration = $1 and p.profile_id = r.id) as pins
       from (${ids}) k
       join records r on r.integration = $1 and r.type = 'guest' and r.id = k.id and r.version > 0
      order by r.id limit $3`,
    [...values, limit],
  );
  return rows.map(({ id, version, data, ms, seq, said, pins }) => ({
    id,
    version,
    guest: decodeRecord('guest', data),
    effectiveAt: ms,
    seq,
    consent: said?.consent,
    ...(pins && { pins: new Set(pins) }),
  }));
}
