import type { Known } from '../../reconcile/reconcile.ts';
import type { EntityType, EpochMs, IntegrationName, Json } from '../../terms.ts';
import { float8s, int8s, texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';

export interface LockedRecord extends Known {
  readonly data: Json | undefined;
}

/** The first state of a record that nobody has seen before. */
export interface FirstState {
  readonly effectiveAt: EpochMs;
  readonly seq: number;
  readonly hash: string;
  readonly text: string;
}

/**
 * Makes sure that every id has a row, then locks them all, both in the order of the ids. A new row has version 0; or, where its
 * first state is given, it is whole at once and named in `stored`: a row that is inserted empty and then filled costs two
 * versions of the row.
 */
export async function lockRecords(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  wanted: ReadonlyMap<string, FirstState | undefined>,
): Promise<{ rows: Map<string, LockedRecord>; stored: ReadonlySet<string> }> {
  const ids = [...wanted.keys()];
  const states = [...wanted.values()];
  const inserted = await tx.query<{ id: string; version: number }>({
    name: 'insert-records',
    text: `
      insert into records (integration, type, id, version, effective_at, seq, hash, data)
      select $1, $2, id, case when data is null then 0 else 1 end, coalesce(to_timestamp(ms / 1000.0), 'epoch'),
             coalesce(seq, 0), coalesce(decode(hash, 'hex'), ''), coalesce(data::json, '{}')
        from unnest($3::text[], $4::float8[], $5::bigint[], $6::text[], $7::text[]) as wanted (id, ms, seq, hash, data)
       order by id
          on conflict do nothing
      returning id, version`,
    values: [
      integration,
      type,
      texts(ids),
      float8s(states.map((state) => state?.effectiveAt)),
      int8s(states.map((state) => state?.seq)),
      texts(states.map((state) => state?.hash)),
      texts(states.map((state) => state?.text)),
    ],
  });
  const stored = new Set(inserted.rows.filter(({ version }) => version === 1).map(({ id }) => id));
  const others = ids.filter((id) => !stored.has(id));
  if (others.length === 0) return { rows: new Map(), stored };
  const { rows } = await tx.query<{
    id: string;
    version: number;
    effective_ms: number;
    seq: number;
    hash: string;
    data: { status?: string } & Json;
  }>({
    name: 'lock-records',
    text: `select id, version, (extract(epoch from effective_at) * 1000)::bigint as effective_ms, seq,
                  encode(hash, 'hex') as hash, data
             from records where integration = $1 and type = $2 and id = any($3::text[]) order by id for update`,
    values: [integration, type, texts(others)],
  });
  const locked = new Map(
    rows.map((row): [string, LockedRecord] => [
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
  return { rows: locked, stored };
}

export async function moveEffectiveTime(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  touched: ReadonlyMap<string, { effectiveAt: EpochMs; seq: number }>,
): Promise<void> {
  await tx.query({
    name: 'move-effective-time',
    text: `update records r set effective_at = to_timestamp(t.ms / 1000.0), seq = t.seq
             from unnest($3::text[], $4::float8[], $5::bigint[]) as t (id, ms, seq)
            where r.integration = $1 and r.type = $2 and r.id = t.id`,
    values: [
      integration,
      type,
      texts([...touched.keys()]),
      float8s([...touched.values()].map(({ effectiveAt }) => effectiveAt)),
      int8s([...touched.values()].map(({ seq }) => seq)),
    ],
  });
}
