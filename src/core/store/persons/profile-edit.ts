import type { EpochMs } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import { noteOf } from '../../canonical/notes.ts';
import { decodeRecord, type Guest } from '../../canonical/reservation.ts';
import { keyTexts } from '../../persons/identifiers.ts';
import { type Consent, newerConsent, ofBooking } from '../../reconcile/consent.ts';
import { aboutProfile, mergeProfile } from '../../reconcile/profile.ts';
import { continuedBy } from '../../reconcile/separate-profile.ts';
import { consentsIn, type StoredClaims } from '../../reconcile/stored-claims.ts';
import { numberOf, rowOf, type Tx } from '../db/pool.ts';
import { ingest } from '../records/ingest.ts';
import { anyKey, keyedRecords } from '../records/search-keys.ts';
import { versionOf, versionsAfter } from '../records/versions.ts';
import { lockProfiles, type Profile, profilesById } from './profile-lookup.ts';

export type ProfileEdit =
  | { readonly kind: 'done'; readonly profiles: readonly { readonly id: string; readonly version: number }[] }
  | { readonly kind: 'missing'; readonly id: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** A new state of a profile after an operator's decision. */
interface Made {
  readonly id: string;
  readonly guest: Guest;
  readonly consent?: Consent | undefined;
  readonly reason: string;
}

/** The profiles in the order of the ids, under the lock of the brand's profiles. */
export async function readForEdit(
  tx: Tx,
  { integration }: Brand,
  ids: readonly string[],
): Promise<Profile[] | Exclude<ProfileEdit, { kind: 'done' }>> {
  await lockProfiles(tx, integration);
  const byId = new Map((await profilesById(tx, integration, ids)).map((profile) => [profile.id, profile]));
  const profiles: Profile[] = [];
  for (const id of ids) {
    const profile = byId.get(id);
    if (profile === undefined || Object.keys(profile.guest).length === 0) return { kind: 'missing', id };
    const into = continuedBy(profile.guest);
    if (into !== undefined) return { kind: 'refused', reason: `Profile ${id} was merged into ${into}: use that one.` };
    profiles.push(profile);
  }
  return profiles;
}

export async function pin(
  tx: Tx,
  { integration }: Brand,
  profile: string,
  keys: readonly string[],
  mergedFrom: string | undefined,
): Promise<void> {
  await tx.query(
    `insert into profile_pins (integration, key, profile_id, merged_from)
     select $1, key, $3, $4 from unnest($2::text[]) as key
     on conflict (integration, key) do update set profile_id = excluded.profile_id, merged_from = coalesce(profile_pins.merged_from, excluded.merged_from)`,
    [integration, [...new Set(keys)], profile, mergedFrom],
  );
}

/** Applies the states, by default as of now, so that no message from before the decision undoes it. */
export async function writeProfiles(
  tx: Tx,
  target: Brand,
  causeId: string,
  made: readonly Made[],
  at?: EpochMs,
): Promise<ProfileEdit> {
  const effectiveAt = at ?? (await now(tx));
  const arrival = { mode: 'pull', effectiveAt, cause: 'guest', causeId } as const;
  const statements = made.map(({ id, guest, consent, reason }) =>
    aboutProfile(id, arrival, {
      record: guest,
      notes: [noteOf('profile_edited', '', { reason })],
      isDecision: true,
      ...(consent !== undefined && consent.value === guest.marketing_consent && { consent }),
    }),
  );
  const { outcomes } = await ingest(tx, target, statements);
  return { kind: 'done', profiles: made.map(({ id }, index) => ({ id, version: outcomes[index]?.version ?? 0 })) };
}

const now = async (tx: Tx): Promise<EpochMs> =>
  Math.floor(await numberOf(tx)('select (extract(epoch from clock_timestamp()) * 1000)::float8'));

/** Names the merge in the history. */
export const mergeCause = (from: string, into: string): string => `merge of ${from} into ${into}`;

/** The state of a profile before a merge; undefined if that version is no longer kept. */
export async function stateBefore(tx: Tx, integration: string, id: string, cause: string): Promise<Guest | undefined> {
  const row = await rowOf(tx)<{ version: number; newest: number; data: string; made: string | null }>(
    `select m.version, r.version as newest, r.data::text as data, ${versionsAfter('r', 'm.version')} as made
       from (select case outcome when 'unchanged' then version else version - 1 end as version from history
              where integration = $1 and type = 'guest' and id = $2 and cause = 'guest' and cause_id = $3
              order by entry_id desc limit 1) m
       join records r on r.integration = $1 and r.type = 'guest' and r.id = $2`,
    [integration, id, cause],
  );
  const data = row && versionOf(row.version, { version: row.newest, data: row.data }, row.made);
  return data === undefined ? undefined : decodeRecord('guest', data);
}

/** The guests in stored reservations that have one of these keys and none of the others, newest last. */
export async function fromReservations(
  tx: Tx,
  integration: string,
  keys: readonly string[],
  others: readonly string[],
): Promise<{ readonly guest: Guest; readonly consent: Consent | undefined }> {
  const { rows } = await tx.query<{ data: string; claims: StoredClaims | null; ms: number; seq: number }>(
    `select r.data::text as data, r.claims, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq
       from (select id from ${keyedRecords('$2')} k where integration = $1) k
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = k.id and r.version > 0
      order by r.effective_at, r.seq`,
    [integration, anyKey('reservation', keys)],
  );
  let stated: { guest: Guest; consent: Consent | undefined } = { guest: {}, consent: undefined };
  for (const { data, claims, ms, seq } of rows) {
    const reservation = decodeRecord('reservation', data);
    const consents = consentsIn(reservation, claims ?? undefined, [ms, seq], true);
    for (const [position, guest] of reservation.guests.entries()) {
      const own = keyTexts(guest);
      if (!own.some((key) => keys.includes(key)) || own.some((key) => others.includes(key))) continue;
      const one = consents[position];
      const consent = newerConsent(stated.consent, one && ofBooking(one, reservation.id));
      stated = { guest: mergeProfile(stated.guest, guest), consent };
    }
  }
  return stated;
}
