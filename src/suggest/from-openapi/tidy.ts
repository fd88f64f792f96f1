import { isObject, type Json, type JsonObject } from '../../terms.ts';

/**
 * Rooms that all lie in one object of the record (`roomStay.roomType`, `roomStay.adultCount`) are read from that object, as a person
 * would write it. Fields from elsewhere name the record.
 */
export function roomsFromOneObject(map: JsonObject): JsonObject {
  const rooms = map.rooms;
  if (!isObject(rooms) || rooms.from !== '$item' || !isObject(rooms.fields)) return map;
  const paths = Object.values(rooms.fields).filter((value) => typeof value === 'string');
  const prefixes = new Set(paths.map((path) => path.split('.')[0]));
  const [prefix] = prefixes;
  const nested = paths.every((path) => path.includes('.') && !path.startsWith('$'));
  if (prefixes.size !== 1 || prefix === undefined || !nested || paths.length < 3) return map;
  const fields = Object.entries(rooms.fields).map(([field, value]): [string, Json] => [
    field,
    typeof value === 'string' ? value.slice(prefix.length + 1) : value,
  ]);
  return { ...map, rooms: { ...rooms, from: prefix, fields: Object.fromEntries(fields) } };
}
