import { pathText, type Step } from '../json-path/path.ts';
import type { Json } from '../terms.ts';
import { type MappingPath, markUse, type PathUse } from './path-use.ts';
import { type Each, isHollow, type Scope } from './scope.ts';
import { isThere, keyOfStep, startOf, stepInto } from './step.ts';

/**
 * The items at a path, each with its enclosing item as parent. A list at the end gives its items, an object is one item; null, an
 * empty object and a missing key give none; `[]` iterates over a list or over the values of an object.
 */
export function compileEach(path: MappingPath, traced: boolean): Each {
  const { steps } = path;
  const [only] = steps;
  const plain = !traced && path.start === 'item' && path.up === 0;
  if (plain && steps.length === 1 && only?.kind === 'key') return listAt(only);
  const start = startOf(path);
  return (scope) => {
    const from = start(scope);
    const out: Scope[] = [];
    if (from !== undefined) walk(from, from.item, from.at, steps, 0, { out, traced, use: path.use });
    return out;
  };
}

interface Walk {
  readonly out: Scope[];
  readonly traced: boolean;
  readonly use: PathUse | undefined;
}

/** The common case: a list under one key. */
function listAt(step: Step): Each {
  return (scope) => {
    const value = stepInto(scope.item, step);
    if (Array.isArray(value)) return value.map((item, key) => itemOf(scope, item, key, '', false));
    const out: Scope[] = [];
    end(scope, value, '', step, { out, traced: false, use: undefined });
    return out;
  };
}

function walk(
  parent: Scope,
  value: Json | undefined,
  at: string,
  steps: readonly Step[],
  index: number,
  to: Walk,
): void {
  const step = steps[index];
  if (step === undefined) {
    markUse(to.use, value !== undefined);
    end(parent, value, at, steps[index - 1], to);
  } else if (step.kind === 'each') {
    for (const item of entries(parent, value, at, steps[index + 1], to.traced)) {
      if (index === steps.length - 1) {
        markUse(to.use, true);
        to.out.push(item);
      } else walk(item, item.item, item.at, steps, index + 1, to);
    }
  } else {
    const key = keyOfStep(value, step);
    const { trace } = parent.root;
    if (trace !== undefined && isThere(value, key)) trace.present = true;
    walk(parent, stepInto(value, step), to.traced ? pathText(at, key) : '', steps, index + 1, to);
  }
}

function end(parent: Scope, value: Json | undefined, at: string, step: Step | undefined, { out, traced }: Walk): void {
  if (value === undefined || value === null || isHollow(value)) return;
  if (Array.isArray(value)) {
    for (let key = 0; key < value.length; key++) out.push(itemOf(parent, value[key], key, at, traced));
  } else if (step === undefined) {
    // $item and $parent are not a deeper level: the item keeps its own parent.
    out.push(parent);
  } else {
    out.push({ item: value, key: keyOfStep(undefined, step), up: parent, root: parent.root, at, group: undefined });
  }
}

function entries(parent: Scope, value: Json | undefined, at: string, next: Step | undefined, traced: boolean): Scope[] {
  if (Array.isArray(value)) return value.map((item, key) => itemOf(parent, item, key, at, traced));
  if (typeof value !== 'object' || value === null) return [];
  // An object with the next key is a list of one.
  if (next?.kind === 'key' && isThere(value, next.key)) return [{ ...itemOf(parent, value, 0, at, false), at }];
  return Object.entries(value).map(([key, item]) => itemOf(parent, item, key, at, traced));
}

function itemOf(up: Scope, item: Json | undefined, key: string | number, at: string, traced: boolean): Scope {
  return { item, key, up, root: up.root, at: traced ? pathText(at, key) : '', group: undefined };
}
