import { describeSign } from '../reconcile/accidents/signs.ts';
import type { Pool } from '../store/db/pool.ts';
import { listHolds } from '../store/operate/holds.ts';
import type { Facts } from '../watch/facts.ts';

/** The holds that wait for a decision, with the number of bookings that they keep something back of. */
export async function openHolds(pool: Pool, integrations: readonly string[] | undefined): Promise<Facts['holds']> {
  const open = await listHolds(pool, { state: 'open', integrations });
  return open.map((hold) => ({ ...hold, rows: hold.open, message: describeSign(hold.sign, hold) }));
}
