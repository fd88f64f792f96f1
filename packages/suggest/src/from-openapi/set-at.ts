import { isObject, type Json, type JsonObject } from '../../../../src/terms.ts';

/** Sets a value at a path of keys, and creates missing objects. */
export function setAt(target: JsonObject, [key, ...rest]: readonly string[], value: Json): void {
  if (key === undefined) return;
  const inner = target[key];
  const next: JsonObject = isObject(inner) ? inner : {};
  target[key] = rest.length === 0 ? value : next;
  setAt(next, rest, value);
}
