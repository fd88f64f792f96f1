import type { GuestKeyKind } from '../../persons/identifiers.ts';
import type { Tx } from '../db/pool.ts';

/** An address or number with more than one profile. */
export interface CommonKey {
  readonly kind: Exclude<GuestKeyKind, 'guest_id'>;
  readonly value: string;
  readonly profiles: number;
  readonly bookings: number;
}

/** The addresses and numbers of a brand that several profiles have, those with the most profiles first. Reads all keys of the brand. */
export async function commonKeys(tx: Tx, integration: string, limit: number): Promise<CommonKey[]> {
  const { rows } = await tx.query<CommonKey>(
    `select split_part(key, ':', 1) as kind, substr(key, strpos(key, ':') + 1) as value, profiles,
            (select count(*)::int from guest_keys b where b.integration = $1 and b.key = common.key and b.type = 'reservation') as bookings
       from (select key, count(*)::int as profiles from guest_keys
              where integration = $1 and type = 'guest' and (key like 'email:%' or key like 'phone:%')
              group by key having count(*) > 1
              order by count(*) desc, key limit $2) common
      order by profiles desc, key`,
    [integration, limit],
  );
  return rows;
}
