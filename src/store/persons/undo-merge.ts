import type { Brand } from '../../brand/brand.ts';
import { keyTexts } from '../../persons/identifiers.ts';
import { withConsent, withoutKeys } from '../../reconcile/profile.ts';
import { continuedBy, withoutOther } from '../../reconcile/separate-profile.ts';
import { type Pool, type Tx, transaction } from '../db/pool.ts';
import { mergeCause, type ProfileEdit, readForEdit, writeProfiles } from './profile-edit.ts';
import { type Profile, profilesById } from './profile-lookup.ts';
import { separatePair } from './profile-pairs.ts';
import { fromReservations, stateBefore } from './profile-sources.ts';

/** Undoes a merge: `from` gets back its last own state and its keys, and `id` loses the values that only `from` had given. */
export async function undoMerge(
  pool: Pool,
  target: Brand,
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
    const keys = [...rows.map(({ key }) => key), ...(await giveBackEarlier(tx, target.integration, id, from))];
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
  const { rows: merged } = await tx.query<{ id: string }>(
    'select distinct merged_from as id from profile_pins where integration = $1 and profile_id = $2 and merged_from is not null',
    [integration, id],
  );
  if (merged.length === 0) return [];
  const profiles = await profilesById(
    tx,
    integration,
    merged.map((one) => one.id),
  );
  const nextOf = new Map(profiles.map((one) => [one.id, continuedBy(one.guest)]));
  const leadsToFrom = (one: string | undefined): boolean =>
    one !== undefined && (one === from || leadsToFrom(nextOf.get(one)));
  const { rows } = await tx.query<{ key: string }>(
    `update profile_pins set profile_id = $3 where integration = $1 and profile_id = $2 and merged_from = any($4)
     returning key`,
    [integration, id, from, [...nextOf.keys()].filter(leadsToFrom)],
  );
  return rows.map(({ key }) => key);
}
