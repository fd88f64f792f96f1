import type { JsonObject } from '../../terms.ts';
import type { Tx } from '../db/pool.ts';

/** The destinations that have received each of these records, with the version. */
export async function deliveredTo(
  tx: Tx,
  records: readonly { readonly integration: string; readonly type: string; readonly id: string }[],
): Promise<JsonObject[]> {
  const { rows } = await tx.query<JsonObject>(
    `select o.integration, o.destination, o.type, o.id, o.delivered_version as version
       from unnest($1::text[], $2::text[], $3::text[]) as r (integration, type, id)
       join outbox o using (integration, type, id)
      where o.delivered_version > 0 and o.destination not like 'innbound:%' order by 1, 2, 3, 4`,
    [records.map(({ integration }) => integration), records.map(({ type }) => type), records.map(({ id }) => id)],
  );
  return rows;
}
