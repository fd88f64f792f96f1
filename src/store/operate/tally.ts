import type { DeliveryTally } from '../../deliver/tally.ts';
import { rowsTable } from '../db/columns.ts';
import type { Pool } from '../db/pool.ts';

const newest = rowsTable(1, { text: ['name'], float8: ['ms'] });
const tallied = rowsTable(1, {
  text: ['integration', 'latency'],
  float8: ['ms'],
  int: ['delivered', 'retried', 'dead'],
});

/** Adds what this node delivered to the activity of its brands, for the ten-second steps that have ended and their hours. */
export async function addTally(pool: Pool, tally: DeliveryTally, nowMs: number): Promise<void> {
  const destinations = tally.takeDestinations();
  if (destinations.size > 0) {
    await pool.query(
      `insert into remotes as r (kind, name, delivered_at)
       select 'destination', name, to_timestamp(ms / 1000) from ${newest.sql} order by name
           on conflict (kind, name) do update set delivered_at = greatest(r.delivered_at, excluded.delivered_at)`,
      newest.values([...destinations].map(([name, ms]) => ({ name, ms }))),
    );
  }
  const taken = tally.take(nowMs);
  if (taken.length === 0) return;
  await pool.query(
    `with tallied as (
       select integration, to_timestamp(ms / 1000) as at, delivered, retried, dead, latency::int[] as latency
         from ${tallied.sql}
     )
     insert into activity as a (integration, step, at, delivered, retried, dead, latency)
     select * from (
       select integration, '10s', at, delivered, retried, dead, latency from tallied
       union all
       select integration, '1h', hour, sum(delivered), sum(retried), sum(dead),
              array(select sum(count)::int from tallied same, unnest(latency) with ordinality as l (count, bucket)
                     where same.integration = t.integration and date_trunc('hour', same.at, 'UTC') = hour group by bucket order by bucket)
         from (select *, date_trunc('hour', at, 'UTC') as hour from tallied) t group by integration, hour
       union all
       select integration, 'ever', 'epoch', sum(delivered), sum(retried), sum(dead), null from tallied group by integration
     ) steps order by 1, 2, 3
         on conflict (integration, step, at) do update
        set delivered = a.delivered + excluded.delivered, retried = a.retried + excluded.retried, dead = a.dead + excluded.dead,
            latency = (select array_agg(coalesce(one, 0) + coalesce(other, 0) order by bucket)
                         from unnest(a.latency, excluded.latency) with ordinality as l (one, other, bucket))`,
    tallied.values(taken.map(({ at, latency, ...one }) => ({ ...one, ms: at, latency: `{${latency.join(',')}}` }))),
  );
}
