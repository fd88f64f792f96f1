import { decodeRecord } from '../../canonical/encode.ts';
import { noteOf } from '../../canonical/notes.ts';
import type { Guest } from '../../canonical/reservation.ts';
import type { Statement } from '../../reconcile/forms.ts';
import { aboutProfile } from '../../reconcile/profile.ts';
import { continuedBy } from '../../reconcile/separate-profile.ts';
import type { Tx } from '../db/pool.ts';
import type { ChangeStep } from '../records/write.ts';

/**
 * A guest who withdraws consent withdraws it under every address. Destinations still know the profiles that were merged into this one by
 * their own addresses, so these withdraw it too: as separate records, each in its own order.
 */
export async function mergedWithdrawals(
  tx: Tx,
  integration: string,
  changes: readonly ChangeStep[],
): Promise<readonly Statement[]> {
  const withdrawn = new Map(changes.filter(isWithdrawal).map((change) => [survivorOf(change), change]));
  if (withdrawn.size === 0) return [];
  const { rows } = await tx.query<{ id: string; survivor: string; data: string }>(
    `select p.merged_from as id, p.profile_id as survivor, r.data::text as data
       from (select distinct merged_from, profile_id from profile_pins
              where integration = $1 and profile_id = any($2) and merged_from is not null) p
       join records r on r.integration = $1 and r.type = 'guest' and r.id = p.merged_from
      order by p.merged_from`,
    [integration, [...withdrawn.keys()]],
  );
  return rows.flatMap(({ id, survivor, data }) => {
    const change = withdrawn.get(survivor);
    const guest = decodeRecord('guest', data);
    return change === undefined || guest.marketing_consent === false ? [] : [withdrawalOf(id, guest, change)];
  });
}

const isWithdrawal = ({ statement: { type }, stored, decision }: ChangeStep): boolean =>
  type === 'guest' &&
  (decision.record as Guest).marketing_consent === false &&
  (stored === undefined || decodeRecord('guest', stored.text).marketing_consent !== false);

const survivorOf = ({ statement: { id }, decision }: ChangeStep): string => continuedBy(decision.record as Guest) ?? id;

function withdrawalOf(id: string, guest: Guest, change: ChangeStep): Statement {
  const { effectiveAt } = change.statement.arrival;
  const survivor = survivorOf(change);
  const reason = `This profile was merged into ${survivor}, whose guest withdrew consent.`;
  return aboutProfile(
    id,
    { mode: 'pull', effectiveAt, cause: 'guest', causeId: `withdrawal of ${survivor}` },
    {
      record: { ...guest, marketing_consent: false },
      notes: [noteOf('consent_withdrawn', 'marketing_consent', { reason })],
      consent: change.decision.state.views?.consent ?? { value: false, source: 'pull', at: effectiveAt },
    },
  );
}
