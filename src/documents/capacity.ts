import { z } from 'zod';
import type { Capacity } from '../canonical/capacity.ts';
import { isLocalDate } from '../canonical/dates.ts';
import { checkedText } from './checked.ts';

/** The rooms that a hotel can sell: `120`, or `{ 2026-01-01: 120, 2026-11-01: 80 }` with the first night of each number. */

const rooms = z.int().min(0).max(100_000);
export const dateText = checkedText('a date such as 2026-01-31', (text) =>
  isLocalDate(text) ? undefined : { message: 'must be a date such as 2026-01-31' },
);
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
