import { isObject, type Json, type JsonObject } from '../../terms.ts';
import { statedStatus } from '../vocabulary.ts';
import { wordsOf } from '../words.ts';
import type { Operation } from './model.ts';

/**
 * Values that the description lists. A made-up answer also contains invented spellings; only the listed ones may become part
 * of a value map.
 */
export function listedSpellings(operation: Operation): ReadonlySet<string> {
  const { response, parameters } = operation;
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
  for (const word of statusesInText(operation)) found.add(word);
  return found;
}

const isStatusName = (name: string) => wordsOf(name).some((word) => word === 'status' || word === 'state');

/** Statuses that a sentence lists: "CONF for confirmed, CXL if it was cancelled". */
export function statusesInText({ response, parameters }: Operation): string[] {
  const texts = parameters.filter(({ name }) => isStatusName(name)).map(({ about }) => about);
  const seen = new Set<Json>();
  const look = (value: Json | undefined): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    for (const [key, inner] of Object.entries(value)) {
      if (isStatusName(key) && isObject(inner) && typeof inner.description === 'string') texts.push(inner.description);
      look(inner);
    }
  };
  look(response);
  return texts.flatMap((text) => {
    // Codes in capitals or in quotes; ordinary words only if there are none.
    const codes = text.match(/(?<=["'`])[\w-]+(?=["'`])|\b[A-Z][A-Z_-]{1,20}\b/g) ?? [];
    const words = codes.length > 1 ? codes : /:/.test(text) ? (text.replace(/^[^:]*:/, '').match(/[\w-]+/g) ?? []) : [];
    const known = [...new Set(words)].filter((word) => word.length > 1 && statedStatus(word) !== undefined);
    return known.length > 1 ? known : [];
  });
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
