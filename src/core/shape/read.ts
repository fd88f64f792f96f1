import type { Json } from '../../terms.ts';
import { pathText, type Step } from '../json-path/path.ts';
import {
  type Each,
  isBlank,
  isHollow,
  isOfLists,
  isThere,
  keyOfStep,
  type MappingPath,
  type PathUse,
  type Read,
  type Scope,
  startOf,
  stepInto,
} from './scope.ts';

/** Compiles a path that gives one value. `isRecorded`: a trace records what it reads. */
export function compileRead(path: MappingPath, isRecorded = true): Read {
  if (path.start === 'key') return keyRead(path);
  const { steps } = path;
  const each = steps.findIndex((step) => step.kind === 'each');
  if (each >= 0) {
    const list = compileRead({ ...path, steps: steps.slice(0, each) }, false);
    return firstOf(compileEach(path), list);
  }
  const read = stepsRead(path, isRecorded);
  const [only] = steps;
  if (path.start !== 'item' || path.up > 0 || steps.length !== 1 || only?.kind !== 'key' || isOfLists(only.key))
    return read;
  // Nearly all paths are one key of the item.
  const { key } = only;
  return (scope) => {
    const { item, root } = scope;
    if (isRecorded && root.trace !== undefined) return read(scope);
    return typeof item === 'object' && item !== null ? (item as { [key: string]: Json })[key] : undefined;
  };
}

/** The key of the item, or of one that encloses it. */
function keyRead(path: MappingPath): Read {
  const start = startOf(path);
  return (scope) => {
    const from = start(scope);
    const { trace } = scope.root;
    if (trace !== undefined) {
      trace.mark(path.use, from !== undefined);
      if (from !== undefined) trace.sources.push(from.at === '' ? '$key' : `${from.at}.$key`);
    }
    return from?.key;
  };
}

/** A path with [] where one value is needed: the first that is not empty. */
function firstOf(each: Each, list: Read): Read {
  return (scope) => {
    for (const inner of each(scope)) {
      if (isBlank(inner.item)) continue;
      wasRead(inner, inner, nowhere, inner.item);
      return inner.item;
    }
    return list(scope) === undefined ? undefined : null;
  };
}

function stepsRead(path: MappingPath, isRecorded: boolean): Read {
  const start = startOf(path);
  const { steps, use } = path;
  const last = steps.at(-1);
  const text = textOf(steps);
  return (scope) => {
    const from = start(scope);
    let around: Json | undefined;
    let value = from?.item;
    for (const step of steps) {
      around = value;
      value = stepInto(value, step);
    }
    const { trace } = scope.root;
    if (trace === undefined || !isRecorded) return value;
    const isSent = last === undefined ? value !== undefined : isThere(around, keyOfStep(around, last));
    trace.mark(use, isSent);
    if (isSent && from !== undefined) wasRead(scope, from, text, value);
    return value;
  };
}

/** The steps as text, with and without a base before them. A negative index stays as written. */
function textOf(steps: readonly Step[]) {
  const add = (base: string, step: Step): string =>
    step.kind === 'each' ? base : pathText(base, step.kind === 'key' ? step.key : step.index);
  return { after: steps.reduce(add, 'x').slice(1), alone: steps.reduce(add, '') };
}

/** Records in the trace, if there is one, that a place was read and with what result. */
function wasRead(
  { root: { trace } }: Scope,
  from: Scope,
  { after, alone }: typeof nowhere,
  value: Json | undefined,
): void {
  if (trace === undefined) return;
  trace.present = true;
  const at = from.at === '' ? alone : from.at + after;
  trace.touched.add(at);
  if (!isBlank(value)) trace.sources.push(at);
}

const nowhere = { after: '', alone: '' };

/** Reads without recording an origin. */
export function silent(read: Read): Read {
  return (scope) => {
    const { trace } = scope.root;
    if (trace === undefined) return read(scope);
    const { sources, present } = trace;
    trace.sources = [];
    const value = read(scope);
    trace.sources = sources;
    trace.present = present;
    return value;
  };
}

/**
 * The items at a path, each with its enclosing item as parent. A list at the end gives its items, an object is one item; null, an
 * empty object and a missing key give none; `[]` iterates over a list or over the values of an object.
 */
export function compileEach(path: MappingPath): Each {
  const { steps, use } = path;
  const start = startOf(path);
  return (scope) => {
    const from = start(scope);
    const out: Scope[] = [];
    if (from !== undefined) walk(from, from.item, from.at, steps, 0, { out, use });
    return out;
  };
}

interface Walk {
  readonly out: Scope[];
  readonly use: PathUse | undefined;
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
    parent.root.trace?.mark(to.use, value !== undefined);
    end(parent, value, at, steps[index - 1], to);
  } else if (step.kind === 'each') {
    for (const item of entries(parent, value, at, steps[index + 1])) {
      if (index === steps.length - 1) {
        parent.root.trace?.mark(to.use, true);
        to.out.push(item);
      } else walk(item, item.item, item.at, steps, index + 1, to);
    }
  } else {
    const key = keyOfStep(value, step);
    const { trace } = parent.root;
    if (trace !== undefined && isThere(value, key)) trace.present = true;
    walk(parent, stepInto(value, step), trace === undefined ? '' : pathText(at, key), steps, index + 1, to);
  }
}

function end(parent: Scope, value: Json | undefined, at: string, step: Step | undefined, { out }: Walk): void {
  if (value === undefined || value === null || isHollow(value)) return;
  if (Array.isArray(value)) {
    for (let key = 0; key < value.length; key++) out.push(itemOf(parent, value[key], key, at));
  } else if (step === undefined) {
    // $item and $parent are not a deeper level: the item keeps its own parent.
    out.push(parent);
  } else {
    out.push({ item: value, key: keyOfStep(undefined, step), up: parent, root: parent.root, at, group: undefined });
  }
}

function entries(parent: Scope, value: Json | undefined, at: string, next: Step | undefined): Scope[] {
  if (Array.isArray(value)) return value.map((item, key) => itemOf(parent, item, key, at));
  if (typeof value !== 'object' || value === null) return [];
  // An object with the next key is a list of one.
  if (next?.kind === 'key' && isThere(value, next.key)) return [{ ...itemOf(parent, value, 0, at), at }];
  return Object.entries(value).map(([key, item]) => itemOf(parent, item, key, at));
}

function itemOf(up: Scope, item: Json | undefined, key: string | number, at: string): Scope {
  const { root } = up;
  return { item, key, up, root, at: root.trace === undefined ? '' : pathText(at, key), group: undefined };
}
