/** The paths of a sample's values, written as a mapping writes them, for completion. */
export function pathsIn(sample: string): string[] {
  try {
    const found = new Set<string>();
    collect(JSON.parse(sample), '', found, 0);
    return [...found].slice(0, 300);
  } catch {
    return [];
  }
}

function collect(value: unknown, path: string, found: Set<string>, depth: number): void {
  if (depth > 6 || found.size > 300 || value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    // Paths inside a list are relative to its elements, as in a mapping.
    for (const one of value.slice(0, 5)) collect(one, '', found, depth + 1);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const here = path === '' ? key : `${path}.${key}`;
    found.add(here);
    collect(inner, here, found, depth + 1);
  }
}
