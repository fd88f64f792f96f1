import type { RequestRate } from '../../documents/pull.ts';
import type { Pool } from '../db/pool.ts';

/**
 * Reserves a slot of the partner's rate, over all nodes, and returns the wait before it in milliseconds. A leaky bucket as one
 * number: the row holds the time at which the bucket is empty; `burst` requests fit into it. A slot further away than `mostMs` is
 * released again, so that others do not queue behind an unused slot.
 */
export async function takeSlot(pool: Pool, api: string, rate: RequestRate, mostMs: number): Promise<number> {
  const everyMs = rate.perMs / rate.requests;
  const { rows } = await pool.query<{ ahead_ms: number }>(
    `insert into partner_apis as a (api, next_slot_at) values ($1, clock_timestamp() + $2::float8 * interval '1 ms')
     on conflict (api) do update
        set next_slot_at = greatest(a.next_slot_at, clock_timestamp()) + $2::float8 * interval '1 ms'
     returning extract(epoch from next_slot_at - clock_timestamp())::float8 * 1000 as ahead_ms`,
    [api, everyMs],
  );
  const waitMs = Math.max(0, Math.ceil((rows[0]?.ahead_ms ?? 0) - everyMs * rate.burst));
  if (waitMs > mostMs) {
    await pool.query(
      `update partner_apis set next_slot_at = next_slot_at - $2::float8 * interval '1 ms' where api = $1`,
      [api, everyMs],
    );
  }
  return waitMs;
}
