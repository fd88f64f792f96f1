import { pathText } from '../json-path/path.ts';
import type { Json } from '../terms.ts';

/**
 * The raw paths that the mapping never read, each once, with [] for indexes. Reading an object covers everything inside it; reading a
 * path in one item covers all items; empty lists and objects do not count.
 */
export function unmappedPaths(value: Json, touched: ReadonlySet<string>): string[] {
  const read = new Set([...touched].map((path) => path.replace(/\[-?\d+\]/g, '[]')));
  const paths = new Set<string>();
  visit(value, '', read, paths);
  return [...paths];
}

function visit(value: Json, at: string, read: ReadonlySet<string>, paths: Set<string>): void {
  if (read.has(at)) return;
  if (Array.isArray(value)) {
    for (const item of value) visit(item, `${at}[]`, read, paths);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) visit(item, pathText(at, key), read, paths);
  } else {
    paths.add(at);
  }
}
