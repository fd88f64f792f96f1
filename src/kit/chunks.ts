/** The items in groups of this size; the last may be smaller. */
export function chunksOf<Of>(items: readonly Of[], size: number): Of[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
