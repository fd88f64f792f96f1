import type pg from 'pg';
import type { BrandFacts } from '../../destination.ts';

export function writeBrand(client: pg.PoolClient, schema: string, integration: string, facts: BrandFacts) {
  const { brandId, timezone, country = null, roomsAvailable } = facts;
  const [nights, rooms] = [roomsAvailable.map(([from]) => from), roomsAvailable.map(([, count]) => count)];
  return client.query(
    `insert into ${schema}.brands as b (integration, brand_id, timezone, country, capacity_from, capacity_rooms)
     values ($1, $2, $3, $4, $5, $6)
         on conflict (integration) do update set brand_id = excluded.brand_id, timezone = excluded.timezone,
            country = excluded.country, capacity_from = excluded.capacity_from, capacity_rooms = excluded.capacity_rooms
      where b is distinct from excluded`,
    [integration, brandId, timezone, country, nights, rooms],
  );
}
