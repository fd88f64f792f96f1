import type { Known } from '../reconcile/reconcile.ts';
import type { EntityType, EpochMs, IntegrationName, Json } from '../terms.ts';
import type { Tx } from './pool.ts';

export interface LockedRecord extends Known {
  readonly data: Json | undefined;
}

/** Makes sure that every id has a row, then locks them all, both in the order of the ids. A new row has version 0. */
export async function lockRecords(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  ids: readonly string[],
): Promise<Map<string, LockedRecord>> {
  await tx.query(
    `insert into records (integration, type, id, version, effective_at, seq, hash, data)
     select $1, $2, id, 0, 'epoch', 0, '', '{}'
       from unnest($3::text[]) as wanted (id)
      where not exists (select 1 from records r where r.integration = $1 and r.type = $2 and r.id = wanted.id)
      order by id
         on conflict do nothing`,
    [integration, type, ids],
  );
  const { rows } = await tx.query<{
    id: string;
    version: number;
    effective_ms: number;
    seq: number;
    hash: string;
    data: { status?: string } & Json;
  }>(
    `select id, version, (extract(epoch from effective_at) * 1000)::bigint as effective_ms, seq,
            encode(hash, 'hex') as hash, data
       from records where integration = $1 and type = $2 and id = any($3) order by id for update`,
    [integration, type, ids],
  );
  return new Map(
    rows.map((row) => [
      row.id,
      {
        version: row.version,
        effectiveAt: row.effective_ms,
        seq: row.seq,
        hash: row.hash,
        status: row.version === 0 ? undefined : row.data.status,
        data: row.version === 0 ? undefined : row.data,
      },
    ]),
  );
}

export async function moveEffectiveTime(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  touched: ReadonlyMap<string, { effectiveAt: EpochMs; seq: number }>,
): Promise<void> {
  await tx.query(
    `update records r set effective_at = to_timestamp(t.ms / 1000.0), seq = t.seq
       from unnest($3::text[], $4::float8[], $5::bigint[]) as t (id, ms, seq)
      where r.integration = $1 and r.type = $2 and r.id = t.id`,
    [
      integration,
      type,
      [...touched.keys()],
      [...touched.values()].map(({ effectiveAt }) => effectiveAt),
      [...touched.values()].map(({ seq }) => seq),
    ],
  );
}
