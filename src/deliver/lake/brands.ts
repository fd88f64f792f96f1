import { capacitySteps } from '../../canonical/capacity.ts';
import type { BrandFacts } from '../destination.ts';
import type { FileStore } from './file-store.ts';

/** Engines that read the whole lake pass over folders that begin with an underscore. */
const folder = '_brands';

/** What is known about a brand, for the measures (ops/duckdb/lake.sql). */
export async function writeBrand(store: FileStore, integration: string, facts: BrandFacts): Promise<void> {
  const { brandId, timezone, country = '', roomsAvailable, allRooms } = facts;
  const brand = `${integration},"${brandId.replaceAll('"', '""')}",${timezone},${country}`;
  const steps = capacitySteps(roomsAvailable, allRooms);
  const lines = steps.length === 0 ? [`${brand},,,`] : steps.map((step) => `${brand},${step.join(',')}`);
  const name = `${folder}/${integration}.csv`;
  await store.prepare(folder);
  const { tag = 'absent' } = (await store.read(name)) ?? {};
  // A node that is faster writes the same.
  await store.replace(
    name,
    `integration,brand_id,timezone,country,from_night,rooms,all_rooms\n${lines.join('\n')}\n`,
    tag,
  );
}
