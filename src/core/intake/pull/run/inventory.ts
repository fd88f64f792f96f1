import type { Json } from '../../../../terms.ts';
import { type Capacity, replacedBy } from '../../../canonical/capacity.ts';
import { addDays, localDateAt } from '../../../canonical/values.ts';
import type { Inventory } from '../../../documents/pull.ts';
import { pathReader } from '../../../json-path/read.ts';
import { noAskCounts } from '../../../outbound/ask/asking.ts';
import { fetchList } from '../page/related.ts';
import { limitsOf, type PullPlan } from '../ports.ts';
import { listValues } from '../request/list-request.ts';
import type { WindowFinding } from './run-state.ts';
import type { RunContext } from './run-work.ts';

/** Reads how many rooms the hotel can sell, if nobody has today. An answer of which a part cannot be read is not used. */
export async function readInventory({ ports, plan, asker }: RunContext): Promise<readonly WindowFinding[]> {
  const { settings, brand } = plan;
  const { inventory, timezone, brandId } = settings;
  if (inventory === undefined || ports.runs.isDryRun === true) return [];
  const from = localDateAt(timezone, ports.clock.now());
  const window = { from, to: addDays(from, inventory.days - 1) };
  const known = await ports.partners.inventory(brand.integration);
  if (known.readOn === from) return [];
  const context = { asker, settings, counts: noAskCounts(), mostPages: limitsOf(ports).pages };
  const values = listValues({ window, timezone, brandId }, inventory);
  const got = await fetchList(context, { ...inventory, name: 'inventory' }, values, false);
  // The partner asks to wait, or the node stops: the next run asks again.
  if (got.kind === 'park' || got.kind === 'stopped') return [];
  const capacity = got.kind === 'rows' ? capacityIn(got.rows, inventory, plan) : undefined;
  if (capacity === undefined) {
    const { code, message } = got.kind === 'rows' ? unreadable : got;
    return [{ ...window, code, message: `The inventory was not read: ${message}` }];
  }
  // Nights that have passed keep their number.
  await ports.partners.keepInventory(brand.integration, from, replacedBy(known.capacity, capacity));
  return [];
}

const unreadable = { code: 'pull.wrong_shape', message: 'it has no rows, or rows without a night or number' } as const;

function capacityIn(rows: readonly Json[], inventory: Inventory, { brand: { night } }: PullPlan): Capacity | undefined {
  const [nightAt, roomsAt] = [pathReader(inventory.night), pathReader(inventory.rooms)];
  const byNight = new Map<string, number>();
  for (const row of rows) {
    const [day, available] = [night(nightAt(row) ?? null), roomsAt(row)];
    const rooms = typeof available === 'string' && available.trim() !== '' ? Number(available) : available;
    if (day === undefined || typeof rooms !== 'number' || !Number.isInteger(rooms) || rooms < 0) return undefined;
    byNight.set(day, (byNight.get(day) ?? 0) + rooms);
  }
  return byNight.size === 0 ? undefined : [...byNight].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
