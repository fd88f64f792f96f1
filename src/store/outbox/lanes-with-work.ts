import type { LaneKey } from '../../deliver/ports.ts';
import type { Pool } from '../db/pool.ts';

/**
 * A recursive query `d`: the lanes with waiting work, each with the time at which its first record is due. It steps through the index
 * from lane to lane, one probe for each. Idle lanes have no entry in the index and cost nothing.
 */
export const lanesWithWork = `d as (
  (select integration, destination, due_at from outbox
    where due_at is not null order by integration, destination, due_at limit 1)
  union all
  select n.* from d cross join lateral (
    select o.integration, o.destination, o.due_at from outbox o
     where o.due_at is not null and (o.integration, o.destination) > (d.integration, d.destination)
     order by o.integration, o.destination, o.due_at limit 1) n
)`;

export async function readLanesWithWork(db: Pool): Promise<LaneKey[]> {
  const { rows } = await db.query<LaneKey>(`with recursive ${lanesWithWork} select integration, destination from d`);
  return rows;
}
