import type { Previewed } from '../../api/types.ts';

type Record = Previewed['records'][number];

/** Which places of the raw record each canonical value came from, and the other way round. */
export interface Links {
  /** Canonical path to raw paths. */
  readonly sources: ReadonlyMap<string, readonly string[]>;
  /** Raw path to canonical paths. */
  readonly targets: ReadonlyMap<string, readonly string[]>;
  /** As a person would write it, such as `price + tax`. */
  readonly origins: ReadonlyMap<string, string>;
  readonly isUnmapped: (rawPath: string) => boolean;
}

export function linksOf({ origins = {}, unmapped = [] }: Record): Links {
  const sources = new Map<string, readonly string[]>();
  const targets = new Map<string, string[]>();
  for (const [field, text] of Object.entries(origins)) {
    const from = pathsOf(text);
    sources.set(field, from);
    for (const path of from) targets.set(path, [...(targets.get(path) ?? []), field]);
  }
  const missed = new Set(unmapped);
  return {
    sources,
    targets,
    origins: new Map(Object.entries(origins)),
    isUnmapped: (path) => missed.has(path.replace(/\[\d+\]/g, '[]')),
  };
}

/** The paths in an origin: `a`, `a + b`, `a × b`, `min(a, b)`. A constant has none. */
function pathsOf(origin: string): string[] {
  if (origin === '(constant)') return [];
  const inner = /^(?:min|max)\((.*)\)$/.exec(origin)?.[1] ?? origin;
  return inner.split(/ \+ | × |, /);
}
