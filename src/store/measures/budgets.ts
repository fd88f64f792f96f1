import type { Pool } from '../db/pool.ts';

/** The room revenue that a hotel means to earn, by month (2026-11). */
export async function readBudgets(pool: Pool, integration: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ month: string; room_revenue: number }>(
    `select to_char(month, 'YYYY-MM') as month, room_revenue::float8 from budgets where integration = $1`,
    [integration],
  );
  return new Map(rows.map(({ month, room_revenue }) => [month, room_revenue]));
}

/** Without a number, the month has no budget any more. */
export async function writeBudget(
  pool: Pool,
  integration: string,
  month: string,
  revenue: number | null,
): Promise<void> {
  await pool.query(
    revenue === null
      ? 'delete from budgets where integration = $1 and month = $2 and $3::numeric is null'
      : `insert into budgets (integration, month, room_revenue) values ($1, $2, $3)
             on conflict (integration, month) do update set room_revenue = excluded.room_revenue`,
    [integration, `${month}-01`, revenue],
  );
}
