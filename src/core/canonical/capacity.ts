/** How many rooms a hotel can sell: this many from each night on. In the order of the nights; empty if it is not known. */
export type Capacity = readonly (readonly [from: string, rooms: number])[];

/** Both numbers from each night on from which one of them changes: the rooms to sell, and all rooms of the hotel. */
export function capacitySteps(
  toSell: Capacity,
  all: Capacity,
): (readonly [from: string, toSell: number | undefined, all: number | undefined])[] {
  const at = (capacity: Capacity, night: string) => capacity.findLast(([from]) => from <= night)?.[1];
  const nights = [...new Set([...toSell, ...all].map(([from]) => from))].sort();
  return nights.map((from) => [from, at(toSell, from), at(all, from)]);
}

/** From its first night on, the later statement replaces the earlier one. */
export function replacedBy(earlier: Capacity, later: Capacity): Capacity {
  const [first] = later[0] ?? [];
  const all = first === undefined ? earlier : [...earlier.filter(([from]) => from < first), ...later];
  return all.filter(([, rooms], i) => rooms !== all[i - 1]?.[1]);
}
