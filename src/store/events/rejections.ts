import type { Rejection } from '../../intake/push/ports.ts';
import type { RejectionCount } from '../../intake/push/rejection-log.ts';
import { jsonbText } from '../../kit/json.ts';
import type { Facts } from '../../watch/facts.ts';
import { rowsTable } from '../db/columns.ts';
import { type Pool, rowsOf } from '../db/pool.ts';

const counted = rowsTable(1, { text: ['integration', 'endpoint_id', 'code', 'reason', 'newest'], int: ['count'] });

export async function writeRejections(pool: Pool, counts: readonly RejectionCount[]): Promise<void> {
  await pool.query(
    `insert into rejections as r (integration, endpoint_id, code, reason, hour, count, newest)
     select integration, endpoint_id, code, reason, date_trunc('hour', now()), count, newest::jsonb
       from ${counted.sql}
      order by integration, endpoint_id, code, reason
         on conflict (integration, endpoint_id, code, reason, hour) do update
        set count = r.count + excluded.count, newest = jsonb_path_query_array(excluded.newest || r.newest, '$[0 to 49]')`,
    counted.values(
      counts.map(({ integration = '', endpointId, code, reason, count, newest }) => ({
        integration,
        endpoint_id: endpointId,
        code,
        reason,
        count,
        newest: jsonbText(JSON.stringify(newest)),
      })),
    ),
  );
}

/** Newest first; with an empty integration, the requests to unknown endpoints. */
export async function listRejections(pool: Pool, integration: string) {
  const { rows } = await pool.query<{ one: Rejection }>(
    `select one from rejections cross join lateral jsonb_array_elements(newest) as one
      where integration = $1 order by hour desc, (one ->> 'at')::float8 desc limit 200`,
    [integration],
  );
  return rows.map(({ one: { at, endpointId, requestId, headerNames, bodyBytes, ...rest } }) => ({
    at: new Date(at),
    ...rest,
    request_id: requestId,
    endpoint_id: endpointId,
    header_names: headerNames,
    body_bytes: bodyBytes,
  }));
}

export const countRejections = (
  pool: Pool,
  integration: string,
  sinceMs: number,
): Promise<{ code: string; reason: string; count: number }[]> =>
  rowsOf(pool)(
    `select code, reason, sum(count)::bigint as count from rejections
      where integration = $1 and hour >= date_trunc('hour', to_timestamp($2 / 1000.0))
      group by code, reason order by count desc, code, reason`,
    [integration, sinceMs],
  );

/** Of the requests of the last hour, this many decide whether a mixture of accepted and refused ones is a fault. */
const window = 20;

/**
 * Brands with refused webhooks in the last 24 hours, of these or of all: how many, and how many of the last requests. Messages of streams
 * have no endpoint, and an event id that comes again is no refusal.
 */
export const refusedBrands = (db: Pool, integrations: readonly string[] | undefined) =>
  rowsOf(db)<Facts['refusals'][number]>(
    `with refused as (
       select integration, sum(count)::int as count from rejections
        where integration <> '' and endpoint_id <> '' and code <> 'push.event_id_reused'
          and hour >= date_trunc('hour', now() - interval '1 day') and ($1::text[] is null or integration = any($1))
        group by integration
     )
     select r.integration, r.count, l.code, l.reason, l.lately, l.accepted as "acceptedLately",
            e.received_at is not null as "everAccepted", l.since
       from refused r
       left join lateral (select received_at from events e where e.integration = r.integration order by seq desc limit 1) e on true
      cross join lateral (
        select (array_agg(code order by at desc) filter (where code is not null))[1] as code,
               (array_agg(reason order by at desc) filter (where code is not null))[1] as reason,
               (count(*) filter (where code is not null and at > coalesce(e.received_at, '-infinity')))::int as since,
               (count(*) filter (where code is not null and no <= ${window} and at > now() - interval '1 hour'))::int as lately,
               (count(*) filter (where code is null and no <= ${window} and at > now() - interval '1 hour'))::int as accepted
          from (select *, row_number() over (order by at desc) as no from (
            (select to_timestamp((one ->> 'at')::float8 / 1000) as at, j.code, j.reason
               from rejections j cross join lateral jsonb_array_elements(newest) as one
              where j.integration = r.integration and j.endpoint_id <> '' and j.code <> 'push.event_id_reused'
                and (one ->> 'at')::float8 > extract(epoch from now() - interval '1 day') * 1000 order by 1 desc limit ${window})
            union all
            (select received_at, null, null from events e where e.integration = r.integration order by seq desc limit ${window})
          ) requests) numbered) l
      where l.code is not null`,
    [integrations],
  );

export async function pruneRejections(pool: Pool): Promise<void> {
  await pool.query(`delete from rejections where hour < now() - interval '30 days'`);
}
