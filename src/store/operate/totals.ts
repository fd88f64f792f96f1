import type { Pool } from '../db/pool.ts';

export interface Totals {
  readonly reservations: number;
  readonly events: number;
  readonly delivered: number;
  readonly waiting: number;
  readonly dead: number;
}

/** Row counts for the demo's screen. Counts whole tables, so only for small stores. */
export async function readTotals(db: Pool): Promise<Totals> {
  const { rows } = await db.query<Totals>(
    `select (select count(*) from records where type = 'reservation' and version > 0)::int as reservations,
            (select count(*) from events)::int as events,
            (select coalesce(sum(delivered_version), 0) from outbox where destination not like 'innbound:%')::int as delivered,
            (select count(*) from outbox where due_at is not null)::int as waiting,
            (select count(*) from dead_letters where state = 'open')::int as dead`,
  );
  return rows[0] ?? { reservations: 0, events: 0, delivered: 0, waiting: 0, dead: 0 };
}
