import type { Operation } from './compile-operation.ts';
import type { Person } from './people.ts';
import type { Item } from './plan.ts';

/**
 * Where a batch may hold a key once only, the newest item is sent for all with that key, and they share its outcome. The owner of a shared
 * address goes before the others, whose items say nothing but the address.
 */
export function newestOfEach(
  { unique }: Operation,
  items: readonly Item[],
): { sent: Item[]; instead: Map<Item, Item[]> } {
  if (unique === undefined) return { sent: [...items], instead: new Map() };
  const sent: Item[] = [];
  const instead = new Map<Item, Item[]>();
  for (const group of Map.groupBy(items, ({ scope, key }) => unique(scope)?.toLowerCase() ?? key).values()) {
    const newest = group.reduce((a, b) =>
      (isOfOwner(b) === isOfOwner(a) ? b.changedAt >= a.changedAt : isOfOwner(b)) ? b : a,
    );
    sent.push(newest);
    instead.set(
      newest,
      group.filter((item) => item !== newest),
    );
  }
  return { sent, instead };
}

const isOfOwner = ({ scope }: Item): boolean => (scope.guest as Person | undefined)?.is_shared !== true;
