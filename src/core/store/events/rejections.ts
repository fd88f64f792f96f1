import { jsonbText } from '../../../kit/json.ts';
import type { Rejection } from '../../intake/push/ports.ts';
import type { RejectionCount } from '../../intake/push/rejection-log.ts';
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

export async function pruneRejections(pool: Pool): Promise<void> {
  await pool.query(`delete from rejections where hour < now() - interval '30 days'`);
}
