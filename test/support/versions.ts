import type { Pool } from '../../src/core/store/db/pool.ts';
import { versionOf, versionsAfter } from '../../src/core/store/records/versions.ts';
import { parseJson } from '../../src/kit/json.ts';
import type { EntityType, Json } from '../../src/terms.ts';

/** A stored version: an entry of the history, with the record as it was then. */
export interface StoredVersion {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly event: string;
  readonly at: Date;
  readonly diff: Json;
  readonly idempotency_key: string;
  readonly text: string;
  readonly data: Json;
}

/** All versions that are still kept, oldest first, as they were delivered. */
export async function storedVersions(
  pool: Pick<Pool, 'query'>,
  where = 'true',
  values: unknown[] = [],
): Promise<StoredVersion[]> {
  const { rows } = await pool.query<StoredVersion & { newest: number; made: string | null; newest_text: string }>(
    `select c.integration, c.type, c.id, c.version, c.outcome as event, c.at, c.diff, c.idempotency_key,
            r.version as newest, r.data::text as newest_text, ${versionsAfter('c', 'c.version')} as made
       from history c join records r on r.integration = c.integration and r.id = c.id and r.type = c.type
      where c.diff is not null and (${where}) order by c.entry_id`,
    values,
  );
  return rows.map(({ newest, newest_text, made, ...row }) => {
    const text = versionOf(row.version, { version: newest, data: newest_text }, made) ?? 'null';
    return { ...row, text, data: parseJson(text) };
  });
}
