import { parseForeignJson } from '../../../kit/json.ts';
import { isObject, type Json } from '../../../terms.ts';
import type { Outcome } from '../../destination.ts';
import type { FailureRule, FoundRule } from './operation.ts';

/** Values of an answer: by path, for later requests, and for a second try. */

/** The values that an answer has for each item. */
export function foundValues(
  rule: FoundRule,
  bytes: Uint8Array,
  keys: readonly (string | undefined)[],
): readonly Readonly<Record<string, string>>[] {
  const body = parseBody(bytes);
  const elements = elementsOf(body === undefined ? undefined : at(body, rule.list), rule.key !== undefined);
  const byKey = new Map<string, Json>();
  for (const element of elements.toReversed()) {
    for (const path of [rule.key ?? []].flat()) {
      const key = textAt(element, path);
      if (key !== undefined) byKey.set(key.toLowerCase(), element);
    }
  }
  return keys.map((key, i) => {
    const own = rule.key === undefined ? elements[i] : byKey.get(key?.toLowerCase() ?? '');
    const values = Object.entries(rule.as).map(([name, path]) => [
      name,
      own === undefined ? undefined : valueAt(own, path),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  });
}

function elementsOf(found: Json | undefined, isSearched: boolean): readonly Json[] {
  if (found === undefined || found === null) return [];
  if (Array.isArray(found)) return found;
  return isSearched && isObject(found) ? Object.values(found) : [found];
}

/** False counts as no value, so that `requires` can test a flag. */
const valueAt = (element: Json, path: string): string | undefined =>
  at(element, path) === true ? 'true' : textAt(element, path);

/** The path of a field for which the vendor refused the request, by `failure.without`. */
export function refusedField(
  rule: FailureRule | undefined,
  outcome: Outcome,
  bytes: Uint8Array | undefined,
): string | undefined {
  if (rule === undefined || outcome.kind !== 'dead' || bytes === undefined) return undefined;
  const answer = parseBody(bytes);
  const code = answer === undefined ? undefined : textAt(answer, rule.code);
  return code !== undefined && Object.hasOwn(rule.without, code) ? rule.without[code] : undefined;
}

export function parseBody(bytes: Uint8Array): Json | undefined {
  try {
    return parseForeignJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

export function at(value: Json, path: string): Json | undefined {
  if (path === '') return value;
  // A key may have dots itself, such as @odata.nextLink.
  if (isObject(value) && Object.hasOwn(value, path)) return value[path] ?? undefined;
  let found: Json | undefined = value;
  for (const part of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as { [key: string]: Json })[part];
  }
  return found ?? undefined;
}

export function textAt(value: Json, path: string | undefined): string | undefined {
  const found = path === undefined ? undefined : at(value, path);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined;
}
