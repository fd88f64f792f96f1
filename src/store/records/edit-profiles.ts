import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest } from '../../canonical/reservation.ts';
import { type Consent, consentsIn, newerConsent } from '../../reconcile/consent.ts';
import { type GuestKeyKind, guestKeys, keyText } from '../../reconcile/guest-match.ts';
import type { Prepared } from '../../reconcile/incoming.ts';
import { mergeProfile, withConsent } from '../../reconcile/profile.ts';
import type { StoredViews } from '../../reconcile/said.ts';
import { continuedBy, retired, withoutOther } from '../../reconcile/separate-profile.ts';
import { type Pool, type Tx, transaction } from '../db/pool.ts';
import { type ApplyTarget, applyPrepared } from './apply.ts';
import { lockProfiles, type Profile, profilesById } from './profile-lookup.ts';
import { readReservation } from './stored-record.ts';

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

/**
 * Merges two profiles into one. `into` keeps its own values and takes those that it lacks; the keys of `from` lead to it from now on.
 * `from` stays as a record that only names its successor.
 */
export async function mergeProfiles(
  pool: Pool,
  target: ApplyTarget,
  { from, into }: { readonly from: string; readonly into: string },
): Promise<ProfileEdit> {
  if (from === into) return { kind: 'refused', reason: 'A profile cannot be merged into itself.' };
  return transaction(pool, async (tx) => {
    const found = await readForEdit(tx, target, [from, into]);
    if ('kind' in found) return found;
    const [source, kept] = found as [Profile, Profile];
    const keys = [...guestKeys(source.guest).map(keyText), ...(source.pins ?? [])];
    await tx.query('update profile_pins set profile_id = $3 where integration = $1 and profile_id = $2', [
      target.integration,
      from,
      into,
    ]);
    await pin(tx, target, into, keys, from);
    const consent = newerConsent(kept.consent, source.consent);
    const guest = withConsent(mergeProfile(source.guest, kept.guest), consent);
    return write(tx, target, mergeCause(from, into), [
      { id: into, guest, consent, reason: `An operator merged profile ${from} into this one.` },
      { id: from, guest: retired(into, guest), reason: `An operator merged this profile into ${into}.` },
    ]);
  });
}

/** Undoes a merge: `from` gets back its last own state and its keys, and `id` loses the values that only `from` had given. */
export async function undoMerge(
  pool: Pool,
  target: ApplyTarget,
  { id, from }: { readonly id: string; readonly from: string },
): Promise<ProfileEdit> {
  return transaction(pool, async (tx) => {
    const found = await readForEdit(tx, target, [id]);
    if ('kind' in found) return found;
    const [whole] = found as [Profile];
    const [source] = await profilesById(tx, target.integration, [from]);
    if (source === undefined) return { kind: 'missing', id: from };
    if (continuedBy(source.guest) !== id) return { kind: 'refused', reason: `${from} is not merged into ${id}.` };
    const { rows } = await tx.query<{ key: string }>(
      'delete from profile_pins where integration = $1 and profile_id = $2 and merged_from = $3 returning key',
      [target.integration, id, from],
    );
    const keys = rows.map(({ key }) => key);
    const rest = guestKeys(whole.guest)
      .map(keyText)
      .filter((key) => !keys.includes(key));
    const cause = mergeCause(from, id);
    // Versions from before the merge may be past their retention; then the reservations are the only source.
    const theirs =
      (await stateBefore(tx, target.integration, from, cause)) ??
      (await fromReservations(tx, target.integration, keys, rest)).guest;
    const own =
      (await stateBefore(tx, target.integration, id, cause)) ??
      withoutKeys((await fromReservations(tx, target.integration, rest, [])).guest, keys);
    const kept = withoutOther(whole.guest, theirs, own);
    // Nobody knows which of the two withdrew consent since the merge: it counts for both.
    const restored = withConsent(theirs, source.consent);
    return write(tx, target, `separation of ${from} from ${id}`, [
      { id, guest: kept, consent: whole.consent, reason: `An operator separated profile ${from} from this one.` },
      { id: from, guest: restored, consent: source.consent, reason: `An operator separated this profile from ${id}.` },
    ]);
  });
}

/** Moves keys of a profile to a new one, for a second person who shares the profile by mistake. */
export async function splitProfile(
  pool: Pool,
  target: ApplyTarget,
  { id, fields }: { readonly id: string; readonly fields: readonly GuestKeyKind[] },
  newId: (parts: readonly string[]) => string,
): Promise<ProfileEdit> {
  return transaction(pool, async (tx) => {
    const found = await readForEdit(tx, target, [id]);
    if ('kind' in found) return found;
    const [whole] = found as [Profile];
    const all = guestKeys(whole.guest);
    const moved = all.filter(({ kind }) => fields.includes(kind));
    const lacking = fields.filter((field) => !moved.some(({ kind }) => kind === field));
    if (lacking.length > 0) return { kind: 'refused', reason: `The profile has no ${lacking.join(' and no ')}.` };
    if (moved.length === all.length) {
      return {
        kind: 'refused',
        reason: 'Nothing would be left to recognise the profile by: leave it at least one field.',
      };
    }
    const movedTexts = moved.map(keyText);
    const rest = all.filter((key) => !moved.includes(key)).map(keyText);
    const other = await fromReservations(tx, target.integration, movedTexts, rest);
    const own = await fromReservations(tx, target.integration, rest, []);
    const theirs = mergeProfile(
      Object.fromEntries(moved.map(({ kind, value }) => [kind, value])),
      withoutKeys(other.guest, rest),
    );
    const kept = withoutOther(whole.guest, theirs, withoutKeys(own.guest, movedTexts));
    const created = newId(['split', id, ...movedTexts]);
    await pin(tx, target, created, movedTexts, undefined);
    const consent = newerConsent(own.consent, whole.consent);
    return write(tx, target, `split of ${created} from ${id}`, [
      { id, guest: kept, consent, reason: `An operator split profile ${created} off.` },
      { id: created, guest: theirs, consent: other.consent, reason: `An operator split this profile off ${id}.` },
    ]);
  });
}

const mergeCause = (from: string, into: string): string => `merge of ${from} into ${into}`;

/** The profiles in the order of the ids, under the lock of the brand's profiles. */
async function readForEdit(
  tx: Tx,
  { integration }: ApplyTarget,
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

async function pin(
  tx: Tx,
  { integration }: ApplyTarget,
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

/** Applies the states as of now, so that no message from before the decision undoes it. */
async function write(tx: Tx, target: ApplyTarget, causeId: string, made: readonly Made[]): Promise<ProfileEdit> {
  const { rows } = await tx.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  );
  const effectiveAt = Math.floor(rows[0]?.ms ?? 0);
  const prepared = made.map(
    ({ id, guest, consent, reason }): Prepared => ({
      kind: 'record',
      arrival: { mode: 'pull', effectiveAt, cause: 'guest', causeId },
      incoming: {
        type: 'guest',
        id,
        record: guest,
        raw: null,
        notes: [{ step: 'reconcile', field: '', code: 'profile_edited', reason }],
        origins: () => ({}),
        ...(consent !== undefined && consent.value === guest.marketing_consent && { consent }),
      },
    }),
  );
  const { outcomes } = await applyPrepared(tx, target, prepared);
  return { kind: 'done', profiles: made.map(({ id }, index) => ({ id, version: outcomes[index]?.version ?? 0 })) };
}

/** The state of a profile before a merge; undefined if that version is no longer kept. */
async function stateBefore(tx: Tx, integration: string, id: string, cause: string): Promise<Guest | undefined> {
  const { rows } = await tx.query<{ data: string }>(
    `select c.data::text as data from changes c
      where c.integration = $1 and c.type = 'guest' and c.id = $2 and c.version =
            (select case r.outcome when 'unchanged' then r.version else r.version - 1 end from receipts r
              where r.integration = $1 and r.type = 'guest' and r.id = $2 and r.cause = 'guest' and r.cause_id = $3
              order by r.receipt_id desc limit 1)`,
    [integration, id, cause],
  );
  return rows[0] && decodeRecord('guest', rows[0].data);
}

/** The guests in stored reservations that have one of these keys and none of the others, newest last. */
async function fromReservations(
  tx: Tx,
  integration: string,
  keys: readonly string[],
  others: readonly string[],
): Promise<{ readonly guest: Guest; readonly consent: Consent | undefined }> {
  const { rows } = await tx.query<{ data: string; said: StoredViews | null; ms: number; seq: number }>(
    `select r.data::text as data, r.said, (extract(epoch from r.effective_at) * 1000)::float8 as ms, r.seq
       from (select distinct id from guest_keys where integration = $1 and key = any($2) and type = 'reservation') k
       join records r on r.integration = $1 and r.type = 'reservation' and r.id = k.id and r.version > 0
      order by r.effective_at, r.seq`,
    [integration, keys],
  );
  let found: { guest: Guest; consent: Consent | undefined } = { guest: {}, consent: undefined };
  for (const { data, said, ms, seq } of rows) {
    const reservation = readReservation(data);
    const consents = consentsIn(reservation, said ?? undefined, [ms, seq]);
    for (const [position, guest] of reservation.guests.entries()) {
      const own = guestKeys(guest).map(keyText);
      if (!own.some((key) => keys.includes(key)) || own.some((key) => others.includes(key))) continue;
      found = { guest: mergeProfile(found.guest, guest), consent: newerConsent(found.consent, consents[position]) };
    }
  }
  return found;
}

/** A guest without the fields that hold one of these keys. */
function withoutKeys(guest: Guest, keys: readonly string[]): Guest {
  const held = guestKeys(guest).filter((key) => keys.includes(keyText(key)));
  const gone = new Set<string>(held.map(({ kind }) => kind));
  return Object.fromEntries(Object.entries(guest).filter(([field]) => !gone.has(field))) as Guest;
}
