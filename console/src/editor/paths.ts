/** The paths of a sample's values, written as a mapping writes them, for completion. */
export function pathsIn(sample: string): string[] {
  try {
    const paths = new Set<string>();
    collect(JSON.parse(sample), '', paths, 0);
    return [...paths].slice(0, 300);
  } catch {
    return [];
  }
}

function collect(value: unknown, path: string, paths: Set<string>, depth: number): void {
  if (depth > 6 || paths.size > 300 || value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    // Paths inside a list are relative to its elements, as in a mapping.
    for (const one of value.slice(0, 5)) collect(one, '', paths, depth + 1);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const here = path === '' ? key : `${path}.${key}`;
    paths.add(here);
    collect(inner, here, paths, depth + 1);
  }
}
