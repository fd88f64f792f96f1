import { isObject, type Json } from '../terms.ts';

export interface Difference {
  /** Such as guests[0].phone. */
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** The leaves that differ between two records, in the order of the newer one, then what it lost. */
export function difference(before: Json | undefined, after: Json | undefined): Difference[] {
  const found: Difference[] = [];
  collect(before, after, '', found);
  return found;
}

function collect(before: Json | undefined, after: Json | undefined, path: string, found: Difference[]): void {
  if (before === after) return;
  if (isList(before) && isList(after)) {
    for (let i = 0; i < Math.max(before.length, after.length); i++) {
      collect(before[i], after[i], `${path}[${i}]`, found);
    }
  } else if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
      const own = (side: { [key: string]: Json }) => (Object.hasOwn(side, key) ? side[key] : undefined);
      collect(own(before), own(after), path === '' ? key : `${path}.${key}`, found);
    }
  } else found.push({ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) });
}

const isList = (value: Json | undefined): value is Json[] => Array.isArray(value);
