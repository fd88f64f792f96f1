import type { Json } from '../../../terms.ts';
import { mostClaims } from '../../reconcile/claims.ts';
import { columnOf, type Pool, rowsOf } from '../db/pool.ts';
import { eventOf, type KeptPayload, modeOf, type Payload, payloadColumns, sentOf } from './entry-payload.ts';

export interface PayloadRange {
  /** Days (UTC) on which the payload was received, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Kept payloads of the next reservations after an id, oldest first within each. */
export async function keptPayloads(
  pool: Pool,
  integration: string,
  { from, to }: PayloadRange,
  after: string,
  limit: number,
): Promise<{
  readonly payloads: readonly KeptPayload[];
  /** The reservations that were read, with or without a payload. */
  readonly ids: readonly string[];
  readonly last: string | undefined;
}> {
  const ids = await columnOf(pool)<string>(
    `select id from records where integration = $1 and type = 'reservation' and version > 0 and event <> 'erased'
        and id > $2 order by id limit $3`,
    [integration, after, limit],
  );
  const payloads = await payloadsOf(pool, integration, ids, { from, to });
  return { payloads, ids, last: ids.length < limit ? undefined : ids.at(-1) };
}

/** How many payloads of all brands are searched for the newest ones of a brand. */
const depth = 20_000;

/** The kept payloads of the reservations that a brand received last. */
export async function newestPayloads(pool: Pool, integration: string, limit: number): Promise<readonly KeptPayload[]> {
  const ids = await columnOf(pool)<string>(
    `select id from (
       select id, integration, type, at from history where diff is not null order by at desc limit ${depth}) r
      where integration = $1 and type = 'reservation' group by id order by max(at) desc limit $2`,
    [integration, limit],
  );
  return payloadsOf(pool, integration, ids, {});
}

/**
 * The newest payloads of each source, as many as a record tells apart, oldest first. A dead event stated nothing. Payloads of another connector
 * that the brand had before are left out.
 */
export async function payloadsOf(
  pool: Pool,
  integration: string,
  ids: readonly string[],
  { from, to }: PayloadRange,
): Promise<readonly KeptPayload[]> {
  const { rows } = await pool.query<Omit<KeptPayload, 'sent'> & Payload>(
    `with connected as (
       select version, applied_at from documents
        where kind = 'integration' and name = $1 and version > (
              select coalesce(max(version) filter (where body ->> 'connector' <> c.now), 0) from documents,
                     (select body ->> 'connector' as now from documents where kind = 'integration' and name = $1 and in_force) c
               where kind = 'integration' and name = $1)
     ), entries as (
       select r.id, ${modeOf} as mode, ${payloadColumns}, r.effective_at, r.seq, r.at, r.connector_version, r.integration_version
         from history r ${eventOf}
        where r.integration = $1 and r.type = 'reservation' and r.id = any($2::text[]) and r.cause in ('run', 'event')
          and (r.cause = 'run' or r.outcome <> 'dead')
          and coalesce(r.integration_version, 1) >= coalesce((select min(version) from connected), 0)
       union all
       select id, case when hydrated_at is null then 'push' else 'single' end, null, event, body, hydrated,
              coalesce(hydrated_at, least(occurred_at, received_at)), seq, received_at, null, null
         from events
        where integration = $1 and type = 'reservation' and id = any($2::text[]) and outcome in ('unchanged', 'superseded')
          and received_at >= coalesce((select min(applied_at) from connected), '-infinity')
     ), ranked as (
       select *, row_number() over (partition by id, mode order by effective_at desc, seq desc) as age from entries
     )
     select id, mode, raw, event, body, hydrated, effective_at as "effectiveAt", seq, connector_version as "connectorVersion",
            integration_version as "integrationVersion"
       from ranked
      where age <= ${mostClaims}
        and ($3::date is null or at >= $3::date) and ($4::date is null or at < $4::date + 1)
      order by id, effective_at, seq`,
    [integration, ids, from, to],
  );
  return rows.flatMap(({ raw, event, body, hydrated, ...kept }) => {
    const sent = sentOf({ raw, event, body, hydrated }, kept.id);
    return sent === undefined ? [] : [{ ...kept, sent }];
  });
}

/** The differences that a reprocessing made to these reservations, inside its transaction. */
export const reprocessedDifferences = (
  db: Pick<Pool, 'query'>,
  integration: string,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly diff: Json }[]> =>
  rowsOf(db)(
    `select id, diff from history
      where integration = $1 and type = 'reservation' and id = any($2::text[]) and cause = 'reprocess' and diff is not null
        and at = now()
      order by id, version desc`,
    [integration, ids],
  );
