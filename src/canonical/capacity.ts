/** How many rooms a hotel can sell: this many from each night on. In the order of the nights; empty if it is not known. */
export type Capacity = readonly (readonly [from: string, rooms: number])[];

/** From its first night on, the later statement replaces the earlier one. */
export function replacedBy(earlier: Capacity, later: Capacity): Capacity {
  const [first] = later[0] ?? [];
  const all = first === undefined ? earlier : [...earlier.filter(([from]) => from < first), ...later];
  return all.filter(([, rooms], i) => rooms !== all[i - 1]?.[1]);
}
