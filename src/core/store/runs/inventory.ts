import type { Capacity } from '../../canonical/capacity.ts';
import type { PartnerStore } from '../../intake/pull/ports.ts';
import { type Pool, rowOf } from '../db/pool.ts';

export async function readInventory(pool: Pool, integration: string): ReturnType<PartnerStore['inventory']> {
  const read = await rowOf(pool)<{ capacity: Capacity; readOn: string }>(
    `select inventory as capacity, to_char(inventory_read_on, 'YYYY-MM-DD') as "readOn" from hotels
      where integration = $1 and inventory is not null`,
    [integration],
  );
  return read ?? { capacity: [] };
}

export async function keepInventory(pool: Pool, integration: string, day: string, capacity: Capacity): Promise<void> {
  await pool.query(
    `insert into hotels (integration, inventory, inventory_read_on) values ($1, $2, $3)
     on conflict (integration) do update set inventory = excluded.inventory, inventory_read_on = excluded.inventory_read_on`,
    [integration, JSON.stringify(capacity), day],
  );
}
