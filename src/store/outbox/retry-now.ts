import type { Pool } from '../db/pool.ts';

/** The rest is due by itself, in the order of its retries. */
const most = 10_000;

/** Makes retries of these destinations due, without their backoff. */
export async function retryNow(pool: Pool, destinations: readonly string[], integrations: readonly string[]) {
  await pool.query(
    `update outbox o set due_at = now()
       from unnest($1::text[]) as d (name) cross join unnest($2::text[]) as i (name)
      cross join lateral (
        select type, id from outbox w where w.integration = i.name and w.destination = d.name and w.due_at > now() and not w.leased
         order by w.due_at limit ${most}) w
      where o.integration = i.name and o.id = w.id and o.type = w.type and o.destination = d.name and o.due_at > now() and not o.leased`,
    [destinations, integrations],
  );
}
