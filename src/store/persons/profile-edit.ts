import type { Brand } from '../../brand/brand.ts';
import { noteOf } from '../../canonical/notes.ts';
import type { Guest } from '../../canonical/reservation.ts';
import type { Consent } from '../../reconcile/consent.ts';
import { aboutProfile } from '../../reconcile/profile.ts';
import { continuedBy } from '../../reconcile/separate-profile.ts';
import type { EpochMs } from '../../terms.ts';
import type { Tx } from '../db/pool.ts';
import { take } from '../records/take.ts';
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
  const found = new Map((await profilesById(tx, integration, ids)).map((profile) => [profile.id, profile]));
  const profiles: Profile[] = [];
  for (const id of ids) {
    const profile = found.get(id);
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
    [integration, [...new Set(keys)], profile, mergedFrom ?? null],
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
  const { outcomes } = await take(tx, target, statements);
  return { kind: 'done', profiles: made.map(({ id }, index) => ({ id, version: outcomes[index]?.version ?? 0 })) };
}

async function now(tx: Tx): Promise<EpochMs> {
  const { rows } = await tx.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  );
  return Math.floor(rows[0]?.ms ?? 0);
}

/** Names the merge in the history. */
export const mergeCause = (from: string, into: string): string => `merge of ${from} into ${into}`;
