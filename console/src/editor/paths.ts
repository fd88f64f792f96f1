/** The paths at which the records of a sample hold values, for completion: names as a mapping writes them. */
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
    // Inside a list paths begin anew: a mapping names them from its element on.
    for (const one of value.slice(0, 5)) collect(one, '', found, depth + 1);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const here = path === '' ? key : `${path}.${key}`;
    found.add(here);
    collect(inner, here, found, depth + 1);
  }
}
