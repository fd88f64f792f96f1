import type pg from 'pg';
import type { DestinationServices } from '../../destination.ts';
import type { Delivery } from '../../message.ts';

/**
 * Writes what the documents say about the brands of a batch, if it is not what this process wrote last. The answer is called after
 * the commit.
 */
export function brandWriter(schema: string, brandOf: DestinationServices['brandOf']) {
  const known = new Map<string, string>();
  return async (client: pg.PoolClient, batch: readonly Delivery[]): Promise<() => void> => {
    const changed = [...new Set(batch.map(({ message }) => message.integration))].toSorted().flatMap((integration) => {
      const facts = brandOf(integration);
      const text = JSON.stringify(facts);
      return facts === undefined || known.get(integration) === text ? [] : [{ integration, facts, text }];
    });
    for (const { integration, facts } of changed) {
      await client.query(
        `insert into ${schema}.brands as b (integration, brand_id, timezone, country, capacity_from, capacity_rooms)
         values ($1, $2, $3, $4, $5, $6)
             on conflict (integration) do update set brand_id = excluded.brand_id, timezone = excluded.timezone,
                country = excluded.country, capacity_from = excluded.capacity_from, capacity_rooms = excluded.capacity_rooms
          where b is distinct from excluded`,
        [
          integration,
          facts.brandId,
          facts.timezone,
          facts.country ?? null,
          facts.roomsAvailable.map(([from]) => from),
          facts.roomsAvailable.map(([, rooms]) => rooms),
        ],
      );
    }
    return () => {
      for (const { integration, text } of changed) known.set(integration, text);
    };
  };
}
