import { z } from 'zod';
import type { Capacity } from '../canonical/capacity.ts';
import { isCurrency, isLocalDate } from '../canonical/values.ts';
import { textThat } from './checked.ts';

/** The rooms that a hotel can sell: `120`, or `{ 2026-01-01: 120, 2026-11-01: 80 }` with the first night of each number. */

const rooms = z.int().min(0).max(100_000);
const dateText = textThat('a date such as 2026-01-31', isLocalDate);
export const capacitySchema = z.union([rooms, z.record(dateText, rooms)], {
  error: 'must be a number of rooms, or numbers of rooms by first night, such as { 2026-01-01: 120 }',
});

/** Before every night that a hotel may have on its books. */
const always = '1900-01-01';

export function roomsByNight(capacity: z.infer<typeof capacitySchema> | undefined): Capacity {
  if (capacity === undefined) return [];
  if (typeof capacity === 'number') return [[always, capacity]];
  return Object.entries(capacity).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

const currencyText = textThat('a currency of ISO 4217 such as EUR', isCurrency);

/** How the page of a hotel shows its figures. */
export const measuresSchema = z.strictObject({
  definition: z
    .enum(['innbound', 'usali'])
    .default('innbound')
    .describe('innbound: complimentary rooms count as sold. usali: they do not, as hotels are compared.'),
  currency: currencyText.optional().describe('The reporting currency; by default the one of most nights.'),
  rates: z
    .record(currencyText, z.record(dateText, z.number().positive()))
    .default({})
    .describe('What one unit of another currency is worth in the reporting currency, from a night on.'),
  commission: z
    .record(z.string().min(1), z.number().min(0).max(100))
    .default({})
    .describe('Percent of the room revenue that a channel keeps, for the revenue after commission.'),
});
