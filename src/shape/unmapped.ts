import type { Json } from '../terms.ts';
import { pathText } from './path.ts';

/**
 * The raw paths that nothing read, each once with [] for list positions. A value taken whole counts with all that is in it;
 * empty lists and objects hold nothing to map.
 */
export function unmappedPaths(value: Json, touched: ReadonlySet<string>): string[] {
  const found = new Set<string>();
  visit(value, '', '', touched, found);
  return [...found];
}

function visit(value: Json, at: string, shown: string, touched: ReadonlySet<string>, found: Set<string>): void {
  if (touched.has(at)) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, pathText(at, index), `${shown}[]`, touched, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value))
      visit(item, pathText(at, key), pathText(shown, key), touched, found);
  } else {
    found.add(shown);
  }
}
