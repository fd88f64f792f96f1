import type { Rejection } from '../../intake/push/ports.ts';
import type { RejectionCount } from '../../intake/push/rejection-log.ts';
import { jsonbText } from '../../kit/json.ts';
import type { Pool } from '../db/pool.ts';

export async function writeRejections(pool: Pool, counts: readonly RejectionCount[]): Promise<void> {
  await pool.query(
    `insert into rejections as r (integration, endpoint_id, code, reason, hour, count, newest)
     select integration, endpoint_id, code, reason, date_trunc('hour', now()), count, newest
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::jsonb[])
         as t (integration, endpoint_id, code, reason, count, newest)
      order by integration, endpoint_id, code, reason
         on conflict (integration, endpoint_id, code, reason, hour) do update
        set count = r.count + excluded.count, newest = jsonb_path_query_array(excluded.newest || r.newest, '$[0 to 49]')`,
    [
      counts.map((one) => one.integration ?? ''),
      counts.map((one) => one.endpointId),
      counts.map((one) => one.code),
      counts.map((one) => one.reason),
      counts.map((one) => one.count),
      counts.map((one) => jsonbText(JSON.stringify(one.newest))),
    ],
  );
}

/** Newest first; with an empty integration, the requests to unknown endpoints. */
export async function listRejections(pool: Pool, integration: string, limit = 200): Promise<Rejection[]> {
  const { rows } = await pool.query<{ one: Rejection }>(
    `select one from rejections cross join lateral jsonb_array_elements(newest) as one
      where integration = $1 order by hour desc, (one ->> 'at')::float8 desc limit $2`,
    [integration, limit],
  );
  return rows.map(({ one }) => one);
}

export async function countRejections(
  pool: Pool,
  integration: string,
  sinceMs: number,
): Promise<{ code: string; reason: string; count: number }[]> {
  const { rows } = await pool.query<{ code: string; reason: string; count: number }>(
    `select code, reason, sum(count)::bigint as count from rejections
      where integration = $1 and hour >= date_trunc('hour', to_timestamp($2 / 1000.0))
      group by code, reason order by count desc, code, reason`,
    [integration, sinceMs],
  );
  return rows;
}

export interface RefusedBrand {
  readonly integration: string;
  /** Of those that are kept. */
  readonly count: number;
  /** Of the last one. */
  readonly code: string;
  readonly reason: string;
  readonly accepted: boolean;
}

/** Webhooks of the last day that were refused after the last accepted event, of these brands or of all. Messages of streams have no endpoint. */
export async function refusedSinceAccepted(db: Pool, integrations: readonly string[] | undefined) {
  const { rows } = await db.query<RefusedBrand>(
    `select r.integration, count(*)::int as count, (array_agg(code order by n.at desc))[1] as code,
            (array_agg(reason order by n.at desc))[1] as reason, e.received_at is not null as accepted
       from rejections r
      cross join lateral jsonb_to_recordset(newest) as n (at float8, status int)
       left join lateral (select received_at from events e where e.integration = r.integration order by seq desc limit 1) e on true
      where r.integration <> '' and ($1::text[] is null or r.integration = any($1)) and r.hour > now() - interval '25 hours'
        and r.endpoint_id <> '' and n.status >= 400 and to_timestamp(n.at / 1000) > greatest(e.received_at, now() - interval '1 day')
      group by r.integration, e.received_at`,
    [integrations ?? null],
  );
  return rows;
}

export async function pruneRejections(pool: Pool): Promise<void> {
  await pool.query(`delete from rejections where hour < now() - interval '30 days'`);
}
