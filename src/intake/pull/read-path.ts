import type { Json } from '../../terms.ts';

const step = /\.?(?:\[(-?\d+)\]|\[?(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]?|([^.[\]'"]+))/y;

/** Reads one value of a response: meta.next_cursor, links[0].href, paging["next.token"]. Undefined if absent. */
export function pathReader(path: string): (body: Json) => Json | undefined {
  const keys = keysOf(path);
  if (keys === undefined) return () => undefined;
  return (body) => {
    let value: Json | undefined = body;
    for (const key of keys) {
      if (value === undefined) return undefined;
      value = child(value, key);
    }
    return value;
  };
}

/** Every value at the path; lists inside the path are expanded item by item. */
export function pathWalker(path: string): (body: Json) => Json[] {
  const keys = keysOf(path);
  if (keys === undefined) return () => [];
  return (body) =>
    keys.reduce<Json[]>((values, key) => values.flatMap((value) => steps(value, key)), [body]).flatMap(itemsOf);
}

function steps(value: Json, key: string | number): Json[] {
  if (Array.isArray(value) && typeof key === 'string') return value.flatMap((item) => steps(item, key));
  const found = child(value, key);
  return found === undefined ? [] : [found];
}

function itemsOf(value: Json): Json[] {
  return Array.isArray(value) ? value.flatMap(itemsOf) : [value];
}

function child(value: Json, key: string | number): Json | undefined {
  if (Array.isArray(value)) return typeof key === 'number' ? value.at(key) : undefined;
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? value[key] : undefined;
}

function keysOf(path: string): (string | number)[] | undefined {
  const keys: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < path.length) {
    const found = step.exec(path);
    if (found === null) return undefined;
    const [, index, double, single, plain] = found;
    keys.push(index !== undefined ? Number(index) : (double ?? single ?? plain ?? '').replace(/\\(.)/g, '$1'));
  }
  return keys;
}
