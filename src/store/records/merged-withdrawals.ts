import { decodeRecord } from '../../canonical/encode.ts';
import type { Guest } from '../../canonical/reservation.ts';
import type { Prepared } from '../../reconcile/incoming.ts';
import { continuedBy } from '../../reconcile/separate-profile.ts';
import type { Tx } from '../db/pool.ts';
import type { Change } from './changes.ts';

/**
 * A guest who withdraws consent withdraws it under every address. Destinations still know the profiles that were merged into this one by
 * their own addresses, so these withdraw it too: as separate records, each in its own order.
 */
export async function mergedWithdrawals(
  tx: Tx,
  integration: string,
  changes: readonly Change[],
): Promise<readonly Prepared[]> {
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

const isWithdrawal = ({ type, item, was }: Change): boolean =>
  type === 'guest' && consentOf(item.incoming.record) === false && consentOf(was) !== false;

const consentOf = (record: unknown): boolean | undefined => (record as Guest | undefined)?.marketing_consent;

const survivorOf = ({ id, item }: Change): string => continuedBy(item.incoming.record as Guest) ?? id;

function withdrawalOf(id: string, guest: Guest, change: Change): Prepared {
  const { effectiveAt } = change.item.arrival;
  const survivor = survivorOf(change);
  const reason = `This profile was merged into ${survivor}, whose guest withdrew consent.`;
  return {
    kind: 'record',
    arrival: { mode: 'pull', effectiveAt, cause: 'guest', causeId: `withdrawal of ${survivor}` },
    incoming: {
      type: 'guest',
      id,
      record: { ...guest, marketing_consent: false },
      raw: null,
      notes: [{ step: 'reconcile', field: 'marketing_consent', code: 'consent_withdrawn', reason }],
      origins: () => ({}),
      consent: change.state.views?.consent ?? { value: false, source: 'pull', at: effectiveAt },
    },
  };
}
