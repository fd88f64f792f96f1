import type { Json } from '../../terms.ts';

const step = /\.?(?:\[(-?\d+)\]|\[?(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\]?|([^.[\]'"]+))/y;

/** Reads one value of a response: meta.next_cursor, links[0].href, paging["next.token"]. What is not there is undefined. */
export function pathReader(path: string): (body: Json) => Json | undefined {
  const keys: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < path.length) {
    const found = step.exec(path);
    if (found === null) return () => undefined;
    const [, index, double, single, plain] = found;
    keys.push(index !== undefined ? Number(index) : (double ?? single ?? plain ?? '').replace(/\\(.)/g, '$1'));
  }
  return (body) => {
    let value: Json | undefined = body;
    for (const key of keys) {
      if (Array.isArray(value)) value = typeof key === 'number' ? value.at(key) : undefined;
      else if (typeof value === 'object' && value !== null && Object.hasOwn(value, key)) value = value[key];
      else return undefined;
    }
    return value;
  };
}
