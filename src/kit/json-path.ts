import type { Json } from '../terms.ts';

/**
 * Paths into JSON: `meta.next_cursor`, `links[0].href`, `links.0.href`, `guests[].id`, `guests.*.id`, `paging["next.token"]`.
 * `$body`, `$item` and `$record` at the start mean the value itself.
 */
export interface JsonPathStep {
  /** Undefined for every item of a list. */
  readonly key: string | undefined;
  /** If the key is a number, for lists. */
  readonly index?: number;
  /** The path from here on, as written. */
  readonly rest: string;
}

const start = /^\$(?:body|item|record)(?:\.|(?=\[)|$)/;
const step = /\.?(?:\[(-?\d*)\]|\[?(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]?|([^.[\]'"]+))/y;

/** Undefined for a text that is not a path. */
export function jsonPathSteps(path: string): readonly JsonPathStep[] | undefined {
  const text = path.replace(start, '');
  const steps: JsonPathStep[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const rest = text.slice(step.lastIndex).replace(/^\./, '');
    const found = step.exec(text);
    if (found === null) return undefined;
    const [, index, double, single, plain] = found;
    if (index === '' || plain === '*') {
      steps.push({ key: undefined, rest });
      continue;
    }
    const key = index ?? plain ?? (double ?? single ?? '').replace(/\\(.)/g, '$1');
    const isIndex = index !== undefined || (plain !== undefined && /^-?\d+$/.test(plain));
    steps.push({ key, rest, ...(isIndex && { index: Number(key) }) });
  }
  return steps;
}

/** Reads one value. Undefined if absent. A key with dots is also found as it is written: `@odata.nextLink`. */
export function pathReader(path: string): (body: Json) => Json | undefined {
  const steps = jsonPathSteps(path);
  if (steps === undefined) return () => undefined;
  return (body) => {
    let value: Json | undefined = body;
    for (const one of steps) {
      if (value === undefined) return undefined;
      const whole = child(value, one.rest);
      if (whole !== undefined) return whole;
      value = one.key === undefined ? undefined : child(value, one.key, one.index);
    }
    return value;
  };
}

/** Every value at the path; lists inside the path are expanded item by item. */
export function pathWalker(path: string): (body: Json) => Json[] {
  const steps = jsonPathSteps(path);
  if (steps === undefined) return () => [];
  return (body) =>
    steps.reduce<Json[]>((values, one) => values.flatMap((value) => walk(value, one)), [body]).flatMap(itemsOf);
}

function walk(value: Json, one: JsonPathStep): Json[] {
  if (one.key === undefined) return typeof value === 'object' && value !== null ? Object.values(value) : [];
  if (Array.isArray(value) && one.index === undefined) return value.flatMap((item) => walk(item, one));
  const found = child(value, one.key, one.index);
  return found === undefined ? [] : [found];
}

function itemsOf(value: Json): Json[] {
  return Array.isArray(value) ? value.flatMap(itemsOf) : [value];
}

function child(value: Json, key: string, index?: number): Json | undefined {
  if (Array.isArray(value)) return index === undefined ? undefined : value.at(index);
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? value[key] : undefined;
}
