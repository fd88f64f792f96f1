import { decodeRecord } from '../../canonical/encode.ts';
import type { Claimed } from '../../deliver/ports.ts';
import type { EntityType } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';
import { idempotencyKey } from '../records/changes.ts';

type Wanted = Pick<Claimed, 'type' | 'id' | 'version'>;

/**
 * Newest versions whose history is past its retention, from the records themselves: `resend` may queue them years later. The version
 * keeps its original idempotency key. The event of the change is no longer known; a first version counts as created.
 */
export async function currentVersions(
  pool: Pool,
  integration: string,
  wanted: readonly Wanted[],
): Promise<Map<string, NonNullable<Claimed['change']>>> {
  const { rows } = await pool.query<{
    type: EntityType;
    id: string;
    version: number;
    hash: string;
    ms: number;
    data: string;
  }>(
    `select r.type, r.id, r.version, encode(r.hash, 'hex') as hash, (extract(epoch from r.changed_at) * 1000)::float8 as ms,
            r.data::text as data
       from unnest($2::text[], $3::text[], $4::int[]) as w (type, id, version)
       join records r on r.integration = $1 and r.id = w.id and r.type = w.type and r.version = w.version`,
    [integration, wanted.map(({ type }) => type), wanted.map(({ id }) => id), wanted.map(({ version }) => version)],
  );
  return new Map(
    rows.map(({ type, id, version, hash, ms, data }) => {
      const record = decodeRecord(type, data);
      const isCancelled = (record as { readonly status?: unknown }).status === 'cancelled';
      const event = hash === '' ? 'removed' : isCancelled ? 'cancelled' : version === 1 ? 'created' : 'updated';
      const key = idempotencyKey(integration as Parameters<typeof idempotencyKey>[0], type, id, version, hash);
      return [`${type} ${id}`, { event, idempotencyKey: key, at: ms, record: () => record }];
    }),
  );
}
