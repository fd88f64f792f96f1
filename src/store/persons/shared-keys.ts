import type { GuestKeyKind } from '../../persons/identifiers.ts';
import type { Tx } from '../db/pool.ts';
import { keyedRecords } from '../records/search-keys.ts';

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
            (select count(*)::int from ${keyedRecords('common.query')} b where b.integration = $1) as bookings
       from (select substr(word, 7) as key, count(*)::int as profiles,
                    '''reservation ' || replace(replace(substr(word, 7), '\\', '\\\\'), '''', '''''') || '''' as query
               from records cross join unnest(tsvector_to_array(keys)) as word
              where integration = $1 and type = 'guest' and (word like 'guest email:%' or word like 'guest phone:%')
              group by word having count(*) > 1
              order by count(*) desc, word limit $2) common
      order by profiles desc, key`,
    [integration, limit],
  );
  return rows;
}
