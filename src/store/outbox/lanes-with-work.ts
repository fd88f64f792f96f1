import type { LaneKey } from '../../deliver/queued-lanes.ts';
import type { Pool } from '../db/pool.ts';

/**
 * A recursive query `d`: the lanes with waiting work, each with the time at which its first record is due. It steps through the index
 * from lane to lane, one probe for each. Idle lanes have no entry in the index and cost nothing. A condition on `due_at` is tested in
 * the index: 100,000 lanes whose work is due later are passed over in one step.
 */
export const lanesWithWork = (due = 'o.due_at is not null') => `d as (
  (select o.integration, o.destination, o.due_at from outbox o
    where ${due} order by o.integration, o.destination, o.due_at limit 1)
  union all
  select n.* from d cross join lateral (
    select o.integration, o.destination, o.due_at from outbox o
     where ${due} and (o.integration, o.destination) > (d.integration, d.destination)
     order by o.integration, o.destination, o.due_at limit 1) n
)`;

export async function readLanesWithWork(db: Pool): Promise<LaneKey[]> {
  const { rows } = await db.query<LaneKey>(`with recursive ${lanesWithWork()} select integration, destination from d`);
  return rows;
}
