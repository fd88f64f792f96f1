import type { Rejection } from '../../intake/push/ports.ts';
import type { RejectionBatch } from '../../intake/push/rejection-log.ts';
import type { Pool } from '../db/pool.ts';

/** How many rejections are kept per integration. */
const kept = 200;

export async function writeRejections(pool: Pool, { samples, counts }: RejectionBatch): Promise<void> {
  await pool.query(
    `with counted as (
       insert into rejection_counts as r (integration, endpoint_id, code, reason, hour, count)
       select integration, endpoint_id, code, reason, date_trunc('hour', now()), count
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[])
           as t (integration, endpoint_id, code, reason, count)
        order by integration, endpoint_id, code, reason
           on conflict (integration, endpoint_id, code, reason, hour) do update set count = r.count + excluded.count
     )
     insert into rejections (integration, endpoint_id, at, status, code, reason, request_id, header_names, body_bytes, address)
     select integration, endpoint_id, to_timestamp(ms / 1000.0), status, code, reason, request_id,
            string_to_array(header_names, ' '), body_bytes, address
       from unnest($6::text[], $7::text[], $8::float8[], $9::int[], $10::text[], $11::text[], $12::text[], $13::text[],
                   $14::int[], $15::text[])
         as t (integration, endpoint_id, ms, status, code, reason, request_id, header_names, body_bytes, address)`,
    [
      counts.map((one) => one.integration ?? ''),
      counts.map((one) => one.endpointId),
      counts.map((one) => one.code),
      counts.map((one) => one.reason),
      counts.map((one) => one.count),
      samples.map((one) => one.integration ?? ''),
      samples.map((one) => one.endpointId),
      samples.map((one) => one.at),
      samples.map((one) => one.status),
      samples.map((one) => one.code),
      samples.map((one) => one.reason),
      samples.map((one) => one.requestId),
      samples.map((one) => one.headerNames.join(' ')),
      samples.map((one) => one.bodyBytes),
      samples.map((one) => one.address),
    ],
  );
}

/** Newest first; with an empty integration, the requests to unknown endpoints. */
export async function listRejections(pool: Pool, integration: string, limit = kept): Promise<Rejection[]> {
  const { rows } = await pool.query<{
    endpoint_id: string;
    at: Date;
    status: number;
    code: string;
    reason: string;
    request_id: string;
    header_names: string[];
    body_bytes: number;
    address: string;
  }>(
    `select endpoint_id, at, status, code, reason, request_id, header_names, body_bytes, address
       from rejections where integration = $1 order by at desc, rejection_id desc limit $2`,
    [integration, limit],
  );
  return rows.map((row) => ({
    endpointId: row.endpoint_id,
    ...(integration !== '' && { integration: integration as NonNullable<Rejection['integration']> }),
    at: row.at.getTime(),
    status: row.status,
    code: row.code,
    reason: row.reason,
    requestId: row.request_id,
    headerNames: row.header_names,
    bodyBytes: row.body_bytes,
    address: row.address,
  }));
}

export async function countRejections(
  pool: Pool,
  integration: string,
  sinceMs: number,
): Promise<{ code: string; reason: string; count: number }[]> {
  const { rows } = await pool.query<{ code: string; reason: string; count: number }>(
    `select code, reason, sum(count)::bigint as count from rejection_counts
      where integration = $1 and hour >= date_trunc('hour', to_timestamp($2 / 1000.0))
      group by code, reason order by count desc, code, reason`,
    [integration, sinceMs],
  );
  return rows;
}

export interface RefusedBrand {
  readonly integration: string;
  /** Of the kept ones: not more than `kept`. */
  readonly count: number;
  /** Of the last one. */
  readonly code: string;
  readonly reason: string;
  readonly accepted: boolean;
}

/** Webhooks of the last day that were refused after the last accepted event, of these brands or of all. */
export async function refusedSinceAccepted(db: Pool, integrations: readonly string[] | undefined) {
  const { rows } = await db.query<RefusedBrand>(
    `select b.integration, r.count, r.code, r.reason, e.received_at is not null as accepted
       from (select distinct integration from rejections
              where integration <> '' and ($1::text[] is null or integration = any($1)) and at > now() - interval '1 day') b
       left join lateral (select received_at from events e where e.integration = b.integration order by seq desc limit 1) e on true
       cross join lateral (select count(*)::int as count, (array_agg(code order by at desc))[1] as code,
                                  split_part((array_agg(reason order by at desc))[1], ' ', 1) as reason
                             from rejections r where r.integration = b.integration and r.at > now() - interval '1 day'
                              and r.status >= 400 and (e.received_at is null or r.at > e.received_at)) r
      where r.count > 0`,
    [integrations ?? null],
  );
  return rows;
}

/** Keeps the last rejections of each integration, and the counts of a month. */
export async function pruneRejections(pool: Pool): Promise<void> {
  await pool.query(
    `delete from rejections r using (
       select integration, rejection_id, row_number() over (partition by integration order by at desc, rejection_id desc) as nth
         from rejections) old
      where old.integration = r.integration and old.rejection_id = r.rejection_id and old.nth > $1`,
    [kept],
  );
  await pool.query(`delete from rejection_counts where hour < now() - interval '30 days'`);
}
