import type { EntityType } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';

const atOnce = 5_000;

/**
 * Queues the newest version of every record, or of one, for a destination, with its original idempotency key. Records that have work queued
 * or are held back stay as they are. Works in steps, so that intake never waits long for a row.
 */
export async function resend(
  pool: Pool,
  integration: string,
  destination: string,
  types: readonly EntityType[],
  { id, onStep }: { readonly id?: string | undefined; readonly onStep?: (queued: number) => void } = {},
): Promise<number> {
  let queued = 0;
  for (const type of types) {
    for (let after = ''; ; ) {
      const { rows } = await pool.query<{ last: string | null; found: number; queued: number }>(
        `with step as (
           select id, version from records
            where integration = $1 and type = $3 and version > 0 and id > $4 and ($6::text is null or id = $6) order by id limit $5
         ), put as (
           insert into outbox as o (integration, destination, type, id, next_version, last_version, due_at)
           select $1, $2, $3, id, version, version, now() from step order by id
               on conflict (integration, destination, type, id) do update
              set next_version = excluded.next_version, last_version = excluded.last_version, due_at = now(), attempt = 0
            where o.next_version > o.last_version and o.held_by is null
           returning id)
         select (select max(id) from step) as last, (select count(*)::int from step) as found,
                (select count(*)::int from put) as queued`,
        [integration, destination, type, after, atOnce, id ?? null],
      );
      const step = rows[0];
      queued += step?.queued ?? 0;
      onStep?.(queued);
      if (step?.last == null || step.found < atOnce) break;
      after = step.last;
    }
  }
  return queued;
}
