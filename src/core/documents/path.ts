/** The way from a document's root to one of its values. */
export type Path = readonly (string | number)[];

const plainKey = /^[A-Za-z_][\w-]*$/;

/** pull.syncs.stay.range[0]; keys that are not plain words are quoted: query["filter.from"]. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (plainKey.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

const step = /\.?(?:\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+))/y;

/** The reverse of pathText; what it cannot read ends the path, so that a position is still found nearby. */
export function pathFromText(text: string): Path {
  const path: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const match = step.exec(text);
    if (!match) break;
    const [, index, quoted, key] = match;
    if (index !== undefined) path.push(Number(index));
    else if (quoted !== undefined) path.push(JSON.parse(quoted) as string);
    else if (key !== undefined) path.push(key);
  }
  return path;
}

/** The value at the path, or undefined. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}
