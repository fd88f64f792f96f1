import { pathText, type Step } from '../json-path/path.ts';
import type { Json } from '../terms.ts';
import { compileEach } from './each.ts';
import { type MappingPath, markUse } from './path-use.ts';
import { type Each, isBlank, type Read, type Scope } from './scope.ts';
import { isOfLists, isThere, keyOfStep, startOf, stepInto } from './step.ts';

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
    for (const found of each(scope)) {
      if (isBlank(found.item)) continue;
      wasRead(found, found, nowhere, found.item);
      return found.item;
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

/** The steps as text, with and without a base before them. */
interface StepsText {
  readonly after: string;
  readonly alone: string;
}

/** A negative index stays as written. */
function textOf(steps: readonly Step[]): StepsText {
  const add = (base: string, step: Step): string =>
    step.kind === 'each' ? base : pathText(base, step.kind === 'key' ? step.key : step.index);
  return { after: steps.reduce(add, 'x').slice(1), alone: steps.reduce(add, '') };
}

/** Records in the trace, if there is one, that a place was read and with what result. */
function wasRead({ root: { trace } }: Scope, from: Scope, { after, alone }: StepsText, value: Json | undefined): void {
  if (trace === undefined) return;
  trace.present = true;
  const at = from.at === '' ? alone : from.at + after;
  trace.touched?.add(at);
  if (!isBlank(value)) trace.sources.push(at);
}

const nowhere: StepsText = { after: '', alone: '' };

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
