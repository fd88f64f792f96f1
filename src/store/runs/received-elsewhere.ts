import type { Received } from '../../intake/pull/ports.ts';
import type { Pool } from '../db/pool.ts';

/**
 * Which other brand has received most of these bookings, if this one has none yet. Ids alone are not enough: two properties may number
 * their bookings from 1. The first page of a new brand beside 999 others with 100 such bookings each takes half a second, that of an older
 * brand a millisecond (two shared cores under load).
 */
export async function receivedElsewhere(
  pool: Pool,
  integration: string,
  others: () => Promise<readonly string[]>,
  bookings: readonly Received[],
): Promise<string | undefined> {
  const { rows: known } = await pool.query(
    `select from records where integration = $1 and type = 'reservation' and version > 0 limit 1`,
    [integration],
  );
  if (known.length > 0) return undefined;
  const names = await others();
  if (names.length === 0) return undefined;
  const { rows } = await pool.query<{ integration: string }>(
    `select r.integration from json_to_recordset($2) as w (id text, check_in text, check_out text, confirmation_number text)
       cross join unnest($1::text[]) as o (integration)
       join records r on r.integration = o.integration and r.type = 'reservation' and r.id = w.id and r.version > 0
      where r.data ->> 'check_in' = w.check_in and r.data ->> 'check_out' = w.check_out
        and r.data ->> 'confirmation_number' is not distinct from w.confirmation_number
      group by 1 having count(*) * 2 > $3 limit 1`,
    [names, JSON.stringify(bookings), bookings.length],
  );
  return rows[0]?.integration;
}
