import type { Json } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';
import { eventOf, hasPayload, modeOf, type Payload, payloadColumns, payloadOf } from './entry-payload.ts';

/** The newest payload that one source sent for a reservation. */
export interface KeptPayload {
  readonly id: string;
  readonly mode: 'pull' | 'single' | 'push';
  readonly raw: Json;
  readonly effectiveAt: Date;
  /** The type of the event that brought it. */
  readonly event: string | null;
}

export interface PayloadRange {
  /** Days (UTC) on which the payload was received, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Kept payloads of the next reservations after an id, oldest first within each. Reservations whose mapping reads outside the record are left
 * out, because the rest of the response is not kept; so are payloads of another connector that the brand had before.
 */
export async function keptPayloads(
  pool: Pool,
  integration: string,
  { from, to }: PayloadRange,
  after: string,
  limit: number,
): Promise<{
  readonly payloads: readonly KeptPayload[];
  /** Reservations that were read, with or without a payload. */
  readonly read: number;
  readonly last: string | undefined;
}> {
  const { rows: ids } = await pool.query<{ id: string }>(
    `select id from records where integration = $1 and type = 'reservation' and version > 0 and id > $2 order by id limit $3`,
    [integration, after, limit],
  );
  const found = ids.map(({ id }) => id);
  const payloads = await payloadsOf(pool, integration, found, { from, to });
  return { payloads, read: ids.length, last: ids.length < limit ? undefined : found.at(-1) };
}

/** How many payloads of all brands are searched for the newest ones of a brand. */
const depth = 20_000;

/** The kept payloads of the reservations that a brand received last. */
export async function newestPayloads(pool: Pool, integration: string, limit: number): Promise<readonly KeptPayload[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from (
       select id, integration, type, at from history where diff is not null order by at desc limit ${depth}) r
      where integration = $1 and type = 'reservation' group by id order by max(at) desc limit $2`,
    [integration, limit],
  );
  return payloadsOf(
    pool,
    integration,
    rows.map(({ id }) => id),
    {},
  );
}

export async function payloadsOf(
  pool: Pool,
  integration: string,
  ids: readonly string[],
  { from, to }: PayloadRange,
): Promise<readonly KeptPayload[]> {
  const { rows } = await pool.query<KeptPayload & Payload>(
    `select id, mode, raw, body, hydrated, "effectiveAt", event from (
       select distinct on (r.id, ${modeOf}) r.id, ${modeOf} as mode, ${payloadColumns}, r.effective_at as "effectiveAt", r.seq, e.event,
              bool_or(r.origins is not null) over (partition by r.id) as is_bound
         from history r ${eventOf}
        where r.integration = $1 and r.type = 'reservation' and r.id = any($2::text[]) and ${hasPayload}
          and r.cause in ('run', 'event')
          and coalesce(r.integration_version, 1) > (
            select coalesce(max(version) filter (where body ->> 'connector' <> c.now), 0) from documents,
                   (select body ->> 'connector' as now from documents where kind = 'integration' and name = $1 and in_force) c
             where kind = 'integration' and name = $1)
          and ($3::date is null or r.at >= $3::date) and ($4::date is null or r.at < $4::date + 1)
        order by r.id, ${modeOf}, r.effective_at desc, r.seq desc) newest
      where not is_bound order by id, "effectiveAt", seq`,
    [integration, ids, from ?? null, to ?? null],
  );
  return rows.flatMap(({ id, mode, effectiveAt, event, ...payload }) => {
    const raw = payloadOf(payload);
    return raw === null ? [] : [{ id, mode, raw, effectiveAt, event }];
  });
}

/** The differences that a reprocessing made to these reservations, inside its transaction. */
export async function reprocessedDifferences(
  db: Pick<Pool, 'query'>,
  integration: string,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly diff: Json }[]> {
  const { rows } = await db.query<{ id: string; diff: Json }>(
    `select id, diff from history
      where integration = $1 and type = 'reservation' and id = any($2::text[]) and cause = 'reprocess' and diff is not null
      order by id, version desc`,
    [integration, ids],
  );
  return rows;
}
