import type { WaitRequest } from '../../deliver/busy.ts';
import type { CallRate } from '../../deliver/ports.ts';
import type { Pool } from '../db/pool.ts';

/**
 * The generic cell rate algorithm in one row: next_at is when the calls already granted would end at an even pace. After a
 * quiet time `burst` calls are allowed at once, then one every interval.
 */
export async function takeBudget(
  pool: Pool,
  destination: string,
  wanted: number,
  rate: CallRate,
): Promise<{ granted: number; waitMs: number }> {
  const intervalMs = 1_000 / rate.perSecond;
  if (wanted < 0) {
    await pool.query(
      `update destination_pace set next_at = next_at + $2 * interval '1 millisecond' where destination = $1`,
      [destination, wanted * intervalMs],
    );
    return { granted: 0, waitMs: 0 };
  }
  await pool.query('insert into destination_pace (destination) values ($1) on conflict do nothing', [destination]);
  const { rows } = await pool.query<{ granted: number; debt_ms: number }>(
    `with pace as materialized (
       select greatest(next_at, clock_timestamp()) as base, clock_timestamp() as at
         from destination_pace where destination = $1 for update
     ), budget as (
       select base, extract(epoch from base - at)::float8 * 1000 as debt_ms from pace
     ), granted as (
       select base, debt_ms, greatest(0, least($2::int, floor($4::int - debt_ms / $3::float8 + 0.001)::int)) as granted from budget
     )
     update destination_pace p set next_at = base + granted * $3::float8 * interval '1 millisecond'
       from granted where p.destination = $1
     returning granted, debt_ms`,
    [destination, wanted, intervalMs, rate.burst],
  );
  const { granted = 0, debt_ms: debtMs = 0 } = rows[0] ?? {};
  return { granted, waitMs: granted > 0 ? 0 : Math.max(1, Math.ceil(debtMs - (rate.burst - 1) * intervalMs)) };
}

/** The settlement of the next success clears it. */
export async function noteWaitRequest(
  pool: Pool,
  destination: string,
  { records, severalAnswers, waitMs }: WaitRequest,
): Promise<void> {
  await pool.query(
    `insert into destination_pace as p (destination, told_to_wait, paused_until)
     values ($1, ($2::text[])[1], case when $3 then now() + $4 * interval '1 millisecond' end)
         on conflict (destination) do update
        set told_to_wait = excluded.told_to_wait,
            paused_until = case when $3 or p.told_to_wait <> all($2)
                                then greatest(p.paused_until, now() + $4 * interval '1 millisecond')
                                else p.paused_until end`,
    [destination, records, severalAnswers, waitMs],
  );
}
