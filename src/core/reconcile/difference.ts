import { isObject, type Json, type JsonObject } from '../../terms.ts';

export interface Difference {
  /** Such as guests[0].phone. */
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** The leaves that differ between two records, in the order of the newer one, then what it lost. */
export function difference(before: Json | undefined, after: Json | undefined): Difference[] {
  const differences: Difference[] = [];
  collect(before, after, '', differences);
  return differences;
}

function collect(before: Json | undefined, after: Json | undefined, path: string, differences: Difference[]): void {
  if (before === after) return;
  if (isList(before) && isList(after)) {
    for (let i = 0; i < Math.max(before.length, after.length); i++) {
      collect(before[i], after[i], `${path}[${i}]`, differences);
    }
  } else if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
      const [known, now] = [own(before, key), own(after, key)];
      // Its text is needed only for what differs.
      if (known !== now) collect(known, now, `${path}${memberText(key, path === '')}`, differences);
    }
  } else differences.push({ path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) });
}

const own = (side: { readonly [key: string]: Json }, key: string): Json | undefined =>
  Object.hasOwn(side, key) ? side[key] : undefined;

/** Equal content, whatever the order of its fields. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [one, other] = [a, b] as [JsonObject, JsonObject];
  return (
    Object.keys(one).every((key) => isEqual(one[key], own(other, key))) &&
    Object.keys(other).every((key) => Object.hasOwn(one, key) || other[key] === undefined)
  );
}

/** A name that could be mistaken for a path is quoted: `extra["a.b"]`. */
const memberText = (key: string, isFirst: boolean): string => {
  if (!plainName.test(key)) return `[${JSON.stringify(key)}]`;
  return isFirst ? key : `.${key}`;
};

const plainName = /^[\p{L}\p{N}_@$ -]+$/u;

/**
 * The record before a change: its leaves set back. The inverse of `difference`, by which earlier versions are read from the newest one.
 * Changes the record in place.
 */
export function undo(record: Json, diff: readonly Difference[]): Json {
  // From the end: items that the change added to a list are removed last item first.
  for (const { path, before } of diff.toReversed()) {
    const steps = stepsOf(path);
    const last = steps.pop();
    if (last === undefined) return before ?? null;
    let parent = record as { [key: string]: Json };
    for (const step of steps) parent = parent[step] as { [key: string]: Json };
    if (before !== undefined) define(parent, last, before);
    else if (isList(parent as Json)) (parent as unknown as Json[]).length = Number(last);
    else delete parent[last];
  }
  return record;
}

/** Assignment would set the prototype where a partner's field is called `__proto__`. */
const define = (parent: object, name: string | number, value: Json): void => {
  Object.defineProperty(parent, name, { value, enumerable: true, configurable: true, writable: true });
};

const step = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([^.[]+)/g;

const stepsOf = (path: string): (string | number)[] =>
  [...path.matchAll(step)].map(([, index, quoted, name = '']) =>
    index !== undefined ? Number(index) : quoted !== undefined ? (JSON.parse(quoted) as string) : name,
  );

const isList = (value: Json | undefined): value is Json[] => Array.isArray(value);
