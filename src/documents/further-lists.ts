import { reservationFields } from '../canonical/fields.ts';
import { type Report, textsIn } from './checked.ts';
import { valueAt } from './path.ts';

/**
 * A field that `shape.also` sets on its rows must be one that the mapping reads. Otherwise `set: { status: cancelled }` beside a status
 * that is mapped from elsewhere changes nothing, and a cancelled booking stays confirmed.
 */
export function checkFurtherLists(connector: unknown, report: Report): void {
  const lists = valueAt(connector, ['shape', 'also']);
  if (!Array.isArray(lists)) return;
  const map = valueAt(connector, ['map']);
  const read = pathsRead(map);
  for (const [i, list] of lists.entries()) {
    for (const key of Object.keys((valueAt(list, ['set']) ?? {}) as object)) {
      if (read.some((path) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[`))) continue;
      const isField = Object.hasOwn(reservationFields, key);
      const next = isField ? `add it to map.${key} (first: [.., ${key}])` : 'set a field that the mapping reads';
      report({ message: `the mapping does not read ${key}, so setting it has no effect; ${next}` }, [
        'shape',
        'also',
        i,
        'set',
        key,
      ]);
    }
  }
}

/** Every path in the mapping, and the names of the fields that it does not mention. */
function pathsRead(map: unknown): string[] {
  const unnamed = Object.keys(reservationFields).filter((field) => valueAt(map, [field]) === undefined);
  return [...unnamed, ...[...textsIn(map)].map(({ text }) => text)];
}
