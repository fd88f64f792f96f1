import type { Json, JsonObject } from '../../../src/terms.ts';

/** The keys that a mapping may use: not those inherited by every JavaScript object. */
export function keysOf(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => !(key in Object.prototype));
}

/** Null and empty text count as absent. */
export function emptied(value: Json | undefined): Json | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

/** Keys that are data themselves: numbers, dates, long ids. */
export function areIds(keys: readonly string[]): boolean {
  return (
    keys.length > 0 && keys.every((key) => /^(?:\d[\d-]*|[0-9a-f]{8}-[0-9a-f-]{20,}|(?=.*\d)[0-9a-f]{16,})$/i.test(key))
  );
}

export function child(path: string, key: string): string {
  const plain = /^[^\s.[\]'"$*][^\s.[\]'"]*$/.test(key) && !/^-?\d+$/.test(key);
  const step = plain
    ? key
    : key.includes("'")
      ? `"${key.replace(/["\\]/g, '\\$&')}"`
      : `'${key.replaceAll('\\', '\\\\')}'`;
  return path === '' ? step : `${path}.${step}`;
}

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('.')));
