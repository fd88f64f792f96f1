import type { Tx } from '../db/pool.ts';

/**
 * Queues, for brands whose documents changed, the removal of their records from each destination that they no longer deliver to; and takes
 * that back for destinations that they deliver to again. In the transaction of the change, so that no node can deliver by the new documents
 * before. A destination that is no longer in force itself gets nothing.
 */
export async function leaveDestinations(tx: Tx, integrations: readonly string[]): Promise<void> {
  if (integrations.length === 0) return;
  await tx.query(
    `with lanes as (
       select i.name as integration, d.destination, bool_or(d.in_force) as stays
         from unnest($1::text[]) as i (name)
        cross join lateral (select in_force, json_array_elements_text(body -> 'deliver') as destination
                              from documents where kind = 'integration' and name = i.name) d
        where exists (select from documents t where t.kind = 'destination' and t.name = d.destination and t.in_force)
        group by 1, 2
     ), back as (
       update outbox o set leaving = false from lanes l
        where l.stays and o.integration = l.integration and o.destination = l.destination and o.leaving
     )
     update outbox o
        set leaving = true, attempt = 0, due_at = case when o.held_by is null and not o.leased then now() else o.due_at end,
            next_version = case when o.next_version > o.last_version then r.version else o.next_version end, last_version = r.version
       from lanes l, records r
      where l.stays is not true and o.integration = l.integration and o.destination = l.destination
        and r.integration = o.integration and r.type = o.type and r.id = o.id and r.version > 0
        and (o.next_version <= o.last_version or (o.delivered_version > 0 and not o.removed))`,
    [integrations],
  );
}
