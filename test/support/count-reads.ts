/**
 * The same items, with a count of how often a property of one is read. Work that is linear reads each item a few times, however many
 * there are. Unlike time, the count is the same on every machine.
 */
export function countReads<Item extends object>(items: readonly Item[]) {
  let reads = 0;
  const get = (item: Item, key: PropertyKey, self: unknown): unknown => {
    reads++;
    return Reflect.get(item, key, self);
  };
  return { items: items.map((item) => new Proxy(item, { get })), readsPerItem: () => reads / items.length };
}
