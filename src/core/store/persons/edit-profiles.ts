import type { EpochMs } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import { type GuestKeyKind, guestKeys, keyText, keyTexts, sharedAmong } from '../../persons/identifiers.ts';
import { mergedPin, namePin } from '../../persons/profile-match.ts';
import { type Consent, newerConsent } from '../../reconcile/consent.ts';
import { mergeProfile, withConsent, withoutKeys } from '../../reconcile/profile.ts';
import { continuedBy, retired, withoutOther } from '../../reconcile/separate-profile.ts';
import { columnOf, type Pool, type Tx, transaction } from '../db/pool.ts';
import { continuePairs, separatePair } from './profile-bookings.ts';
import {
  fromReservations,
  mergeCause,
  type ProfileEdit,
  pin,
  readForEdit,
  stateBefore,
  writeProfiles,
} from './profile-edit.ts';
import { type Profile, profilesById, profilesByKeys } from './profile-lookup.ts';

/**
 * Merges two profiles into one. `into` keeps its own values and takes those that it lacks; the keys of both and the bookings of `from` lead
 * to it from now on, except an address that other people have. `from` stays as a record that only names its successor.
 */
export async function mergeProfiles(
  pool: Pool,
  target: Brand,
  { from, into }: { readonly from: string; readonly into: string },
): Promise<ProfileEdit> {
  if (from === into) return { kind: 'refused', reason: 'A profile cannot be merged into itself.' };
  return transaction(pool, async (tx) => {
    const profiles = await readForEdit(tx, target, [from, into]);
    if ('kind' in profiles) return profiles;
    const [source, kept] = profiles as [Profile, Profile];
    return mergeInto(tx, target, source, kept, 'An operator');
  });
}

/** The merge itself, under the lock of the brand's profiles. `at`: the time of the new states; by default now. */
export async function mergeInto(
  tx: Tx,
  target: Brand,
  source: Profile,
  kept: Profile,
  who: string,
  at?: EpochMs,
): Promise<ProfileEdit> {
  const { id: from } = source;
  const { id: into } = kept;
  const all = await profilesByKeys(
    tx,
    target.integration,
    [source, kept].flatMap((one) => guestKeys(one.guest)),
  );
  const pinsOf = ({ id: own, guest }: Profile, other: string) => {
    const isShared = sharedAmong(all.flatMap((one) => (one.id === other ? [] : [one.guest])));
    const keys = guestKeys(guest).filter(({ value }) => !isShared(value));
    return [...keys.map(keyText), namePin(guest, own) ?? []].flat();
  };
  const keys = [...pinsOf(source, into), mergedPin(from), ...(source.pins ?? [])];
  await tx.query('update profile_pins set profile_id = $3 where integration = $1 and profile_id = $2', [
    target.integration,
    from,
    into,
  ]);
  await pin(tx, target, into, pinsOf(kept, from), undefined);
  await pin(tx, target, into, keys, from);
  await continuePairs(tx, target.integration, from, into);
  const consent = newerConsent(kept.consent, source.consent);
  const guest = withConsent(mergeProfile(source.guest, kept.guest), consent);
  return writeProfiles(
    tx,
    target,
    mergeCause(from, into),
    [
      { id: into, guest, consent, reason: `${who} merged profile ${from} into this one.` },
      { id: from, guest: retired(into, guest), reason: `${who} merged this profile into ${into}.` },
    ],
    at,
  );
}

/** Moves keys of a profile to a new one, for a second person who shares the profile by mistake. */
export async function splitProfile(
  pool: Pool,
  target: Brand,
  { id, fields }: { readonly id: string; readonly fields: readonly GuestKeyKind[] },
  newId: (parts: readonly string[]) => string,
): Promise<ProfileEdit> {
  return transaction(pool, async (tx) => {
    const profiles = await readForEdit(tx, target, [id]);
    if ('kind' in profiles) return profiles;
    const [whole] = profiles as [Profile];
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
      withoutKeys(other.guest, new Set(rest)),
    );
    const kept = withoutOther(whole.guest, theirs, withoutKeys(own.guest, new Set(movedTexts)));
    const created = newId(['split', id, ...movedTexts]);
    await pin(tx, target, created, movedTexts, undefined);
    await separatePair(tx, target.integration, id, created);
    const consents = consentsAfterSplit(whole.consent, own.consent, other.consent);
    return writeProfiles(tx, target, `split of ${created} from ${id}`, [
      {
        id,
        guest: withConsent(kept, consents.kept),
        consent: consents.kept,
        reason: `An operator split profile ${created} off.`,
      },
      {
        id: created,
        guest: withConsent(theirs, consents.created),
        consent: consents.created,
        reason: `An operator split this profile off ${id}.`,
      },
    ]);
  });
}

/**
 * Each profile has what its own bookings say. A statement outside the bookings stays with the profile; a refusal counts for both, because
 * nobody knows which of the two refused.
 */
function consentsAfterSplit(whole: Consent | undefined, own: Consent | undefined, other: Consent | undefined) {
  const isOfBookings = [own, other].some((one) => one?.at === whole?.at && one?.value === whole?.value);
  const further = isOfBookings ? undefined : whole;
  return {
    kept: newerConsent(own, further),
    created: newerConsent(other, further?.value === false ? further : undefined),
  };
}

/** Undoes a merge: `from` gets back its last own state and its keys, and `id` loses the values that only `from` had given. */
export async function undoMerge(
  pool: Pool,
  target: Brand,
  { id, from }: { readonly id: string; readonly from: string },
): Promise<ProfileEdit> {
  return transaction(pool, async (tx) => {
    const profiles = await readForEdit(tx, target, [id]);
    if ('kind' in profiles) return profiles;
    const [whole] = profiles as [Profile];
    const [source] = await profilesById(tx, target.integration, [from]);
    if (source === undefined) return { kind: 'missing', id: from };
    if (continuedBy(source.guest) !== id) return { kind: 'refused', reason: `${from} is not merged into ${id}.` };
    const given = await columnOf(tx)<string>(
      'delete from profile_pins where integration = $1 and profile_id = $2 and merged_from = $3 returning key',
      [target.integration, id, from],
    );
    const keys = [...given, ...(await giveBackEarlier(tx, target.integration, id, from))];
    const rest = keyTexts(whole.guest).filter((key) => !keys.includes(key));
    await separatePair(tx, target.integration, id, from);
    const cause = mergeCause(from, id);
    // Versions from before the merge may be past their retention; then the reservations are the only source.
    const theirs =
      (await stateBefore(tx, target.integration, from, cause)) ??
      (await fromReservations(tx, target.integration, keys, rest)).guest;
    const own =
      (await stateBefore(tx, target.integration, id, cause)) ??
      withoutKeys((await fromReservations(tx, target.integration, rest, [])).guest, new Set(keys));
    const without = withoutOther(whole.guest, theirs, own);
    // Nobody knows which of the two withdrew consent since the merge: it counts for both.
    const agrees = without.marketing_consent === true && whole.guest.marketing_consent === false;
    const kept = agrees ? { ...without, marketing_consent: false } : without;
    const restored = withConsent(theirs, source.consent);
    return writeProfiles(tx, target, `separation of ${from} from ${id}`, [
      { id, guest: kept, consent: whole.consent, reason: `An operator separated profile ${from} from this one.` },
      { id: from, guest: restored, consent: source.consent, reason: `An operator separated this profile from ${id}.` },
    ]);
  });
}

/** Gives `from` the keys of profiles that had been merged into it before. */
async function giveBackEarlier(tx: Tx, integration: string, id: string, from: string): Promise<string[]> {
  const merged = await columnOf(tx)<string>(
    'select distinct merged_from as id from profile_pins where integration = $1 and profile_id = $2 and merged_from is not null',
    [integration, id],
  );
  if (merged.length === 0) return [];
  const profiles = await profilesById(tx, integration, merged);
  const nextOf = new Map(profiles.map((one) => [one.id, continuedBy(one.guest)]));
  const leadsToFrom = (one: string | undefined): boolean =>
    one !== undefined && (one === from || leadsToFrom(nextOf.get(one)));
  return columnOf(tx)(
    `update profile_pins set profile_id = $3 where integration = $1 and profile_id = $2 and merged_from = any($4)
     returning key`,
    [integration, id, from, [...nextOf.keys()].filter(leadsToFrom)],
  );
}
