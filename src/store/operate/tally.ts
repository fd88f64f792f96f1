import type { DeliveryTally } from '../../deliver/tally.ts';
import { float8s, int4s, texts } from '../db/columns.ts';
import type { Pool } from '../db/pool.ts';

/** Adds what this node delivered to the activity of its brands, for the ten-second steps that have ended and their hours. */
export async function addTally(pool: Pool, tally: DeliveryTally, nowMs: number): Promise<void> {
  const destinations = tally.takeDestinations();
  if (destinations.size > 0) {
    await pool.query(
      `insert into remotes as r (kind, name, delivered_at)
       select 'destination', name, to_timestamp(ms / 1000) from unnest($1::text[], $2::float8[]) as d (name, ms) order by name
           on conflict (kind, name) do update set delivered_at = greatest(r.delivered_at, excluded.delivered_at)`,
      [texts([...destinations.keys()]), float8s([...destinations.values()])],
    );
  }
  const taken = tally.take(nowMs);
  if (taken.length === 0) return;
  await pool.query(
    `with tallied as (
       select integration, to_timestamp(ms / 1000) as at, delivered, retried, dead, latency::int[] as latency
         from unnest($1::text[], $2::float8[], $3::int[], $4::int[], $5::int[], $6::text[])
           as t (integration, ms, delivered, retried, dead, latency)
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
    [
      texts(taken.map(({ integration }) => integration)),
      float8s(taken.map(({ at }) => at)),
      int4s(taken.map(({ delivered }) => delivered)),
      int4s(taken.map(({ retried }) => retried)),
      int4s(taken.map(({ dead }) => dead)),
      texts(taken.map(({ latency }) => `{${latency.join(',')}}`)),
    ],
  );
}
