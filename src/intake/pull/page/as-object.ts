import { isObject, type Json, type JsonObject } from '../../../terms.ts';

/** An answer as an object that can hold more fields. A bare list moves to `$list`, where the shape looks for it. */
export function asObject(body: Json): JsonObject {
  return isObject(body) ? body : { $list: body };
}
