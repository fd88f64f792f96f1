import { isObject, type Json, type JsonObject } from '../terms.ts';

/**
 * Records in which a key holds an object here and a list there, as in JSON made from XML, with lists everywhere: the mapping reads a single
 * object as a list of one.
 */
export function withLists(all: readonly Json[]): readonly Json[] {
  const records = all.filter(isObject);
  const keys = new Set(records.flatMap((record) => Object.keys(record)));
  const mixed = [...keys].filter((key) => {
    const values = records.map((record) => record[key]);
    return values.some(isObject) && values.some((value) => Array.isArray(value) && value.some(isObject));
  });
  if (mixed.length === 0) return all;
  const listed = (record: JsonObject): [string, Json][] =>
    mixed.flatMap((key): [string, Json][] => {
      const value = record[key];
      return isObject(value) ? [[key, [value]]] : [];
    });
  return all.map((record) => (isObject(record) ? { ...record, ...Object.fromEntries(listed(record)) } : record));
}
