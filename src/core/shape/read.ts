import type { Json } from '../../terms.ts';
import { pathText, type Step } from '../json-path/path.ts';
import { type MappingPath, markUse, type PathUse } from './path-use.ts';
import {
  type Each,
  isBlank,
  isHollow,
  isOfLists,
  isThere,
  keyOfStep,
  type Read,
  type Scope,
  startOf,
  stepInto,
} from './scope.ts';

/** Compiles a path that gives one value. Paths of one or two keys, nearly all of them, get a direct closure. */
export function compileRead(path: MappingPath, traced: boolean): Read {
  if (path.start === 'key') return keyRead(path);
  const each = path.steps.findIndex((step) => step.kind === 'each');
  if (each >= 0) {
    const list = compileRead({ ...path, steps: path.steps.slice(0, each) }, false);
    return firstOf(compileEach(path, traced), list);
  }
  if (traced) return tracedRead(path);
  const [one, two] = path.steps;
  if (path.start === 'item' && path.up === 0 && one?.kind === 'key' && !isOfLists(one.key)) {
    if (two === undefined) return keyOf(one.key);
    if (two.kind === 'key' && path.steps.length === 2 && !isOfLists(two.key)) return keyOfKey(one.key, two.key);
  }
  const { steps } = path;
  const start = startOf(path);
  return (scope) => {
    let value: Json | undefined = start(scope)?.item;
    for (const step of steps) value = stepInto(value, step);
    return value;
  };
}

/** The key of the item, or of one that encloses it. */
function keyRead(path: MappingPath): Read {
  const start = startOf(path);
  return (scope) => {
    const from = start(scope);
    const { trace } = scope.root;
    if (trace !== undefined) {
      markUse(path.use, from !== undefined);
      if (from !== undefined) trace.sources.push(from.at === '' ? '$key' : `${from.at}.$key`);
    }
    return from?.key;
  };
}

function keyOf(key: string): Read {
  return (scope) => {
    const item = scope.item;
    return typeof item === 'object' && item !== null ? (item as { [key: string]: Json })[key] : undefined;
  };
}

function keyOfKey(outer: string, inner: string): Read {
  return (scope) => {
    const item = scope.item;
    const middle = typeof item === 'object' && item !== null ? (item as { [key: string]: Json })[outer] : undefined;
    return typeof middle === 'object' && middle !== null ? (middle as { [key: string]: Json })[inner] : undefined;
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

function tracedRead(path: MappingPath): Read {
  const start = startOf(path);
  const { steps, use } = path;
  const last = steps.at(-1);
  const text = textOf(steps);
  return (scope) => {
    const from = start(scope);
    if (from === undefined) {
      markUse(use, false);
      return undefined;
    }
    let around: Json | undefined;
    let value = from.item;
    for (const step of steps) {
      around = value;
      value = stepInto(value, step);
    }
    const there = last === undefined ? value !== undefined : isThere(around, keyOfStep(around, last));
    markUse(use, there);
    if (there) wasRead(scope, from, text, value);
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
  trace.touched?.add(at);
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
