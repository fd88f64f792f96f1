import { mostItems } from '../../canonical/limits.ts';
import type { Json } from '../../terms.ts';
import type { EnvelopeProblem } from './envelope-problem.ts';

/**
 * How many elements the lists of one reservation may have. Comparing guests and rooms with the stored ones takes processor
 * time, so one event must not contain thousands of them. The largest group bookings we know have some 300 guests.
 */
const listLimits: ReadonlyMap<string, number> = new Map([...Object.entries(mostItems), ['stays', mostItems.rooms]]);
/** For lists with other names, which a connector may map to any of the above. */
const otherListLimit = mostItems.charges;

/** Every list in an event's data that is too long. `above` is the pointer of the data in its body. */
export function longLists(data: Json, above: string): readonly EnvelopeProblem[] {
  const problems: EnvelopeProblem[] = [];
  const open: { readonly value: Json; readonly name: string | undefined }[] = [{ value: data, name: undefined }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, name } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) {
      for (const [key, inner] of Object.entries(value)) open.push({ value: inner as Json, name: key });
      continue;
    }
    const known = name !== undefined && listLimits.has(name) ? name : undefined;
    const limit = (known !== undefined && listLimits.get(known)) || otherListLimit;
    if (value.length > limit) {
      // The pointer names only known fields: other keys may contain guest data.
      const pointer =
        known !== undefined && (data as { [key: string]: Json })[known] === value ? `${above}/${known}` : above;
      problems.push({
        pointer,
        detail: `${known ?? 'A list'} has ${value.length} elements; at most ${limit} are accepted.`,
      });
      continue;
    }
    for (const inner of value) open.push({ value: inner, name: undefined });
  }
  return problems;
}
