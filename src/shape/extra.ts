import { isInherited } from '../json-path/path.ts';
import type { JsonObject } from '../terms.ts';
import type { FieldMap } from './config.ts';
import { documentPath } from './document-path.ts';
import type { Env } from './env.ts';
import { compileSlot } from './field.ts';
import type { Read, Scope } from './scope.ts';
import { newSlot, type Slot } from './slot.ts';

export type ReadExtra = (scope: Scope) => JsonObject | undefined;

/** Compiles `extra` of the reservation or of its guests: names that the connector chooses, each with any JSON value. */
export function compileExtra(
  fields: { readonly [name: string]: FieldMap } | undefined,
  within: 'extra' | 'guests.extra',
  at: string,
  env: Env,
  over: (slot: Slot) => (read: Read) => Read,
): ReadExtra | undefined {
  const reads = Object.entries(fields ?? {}).map(([field, map]): [string, Read] => {
    const place = documentPath(at, field);
    if (isInherited(field)) env.problem(place, `the name ${field} is not allowed`);
    const slot = newSlot(within, field, 'json');
    return [field, compileSlot(map, slot, place, env, over(slot))];
  });
  if (reads.length === 0) return undefined;
  return (scope) => {
    const extra: JsonObject = {};
    let some = false;
    for (const [name, read] of reads) {
      const value = read(scope);
      if (value === undefined) continue;
      extra[name] = value;
      some = true;
    }
    return some ? extra : undefined;
  };
}
