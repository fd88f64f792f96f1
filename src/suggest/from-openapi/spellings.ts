import { isObject, type Json, type JsonObject } from '../../terms.ts';
import type { Operation } from './model.ts';

/**
 * Values that the description lists. A made-up answer also contains invented spellings; only the listed ones may become part
 * of a value map.
 */
export function listedSpellings({ response, parameters }: Operation): ReadonlySet<string> {
  const found = new Set<string>();
  const seen = new Set<Json>();
  const look = (value: Json | undefined): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (isObject(value) && Array.isArray(value.enum)) for (const one of value.enum) found.add(String(one));
    for (const inner of Object.values(value)) look(inner);
  };
  look(response);
  for (const { schema } of parameters) look(schema);
  return found;
}

export function onlyListed(values: Json | undefined, listed: ReadonlySet<string>): JsonObject | undefined {
  if (!isObject(values)) return undefined;
  const kept: JsonObject = {};
  for (const [field, map] of Object.entries(values)) {
    if (!isObject(map)) continue;
    const entries = Object.entries(map).flatMap(([value, spellings]): [string, Json][] => {
      const known = (Array.isArray(spellings) ? spellings : [spellings]).filter((one) => listed.has(String(one)));
      return known.length === 0 ? [] : [[value, known]];
    });
    if (entries.length > 0) kept[field] = Object.fromEntries(entries);
  }
  return Object.keys(kept).length === 0 ? undefined : kept;
}
