import type { Json } from '../terms.ts';
import type { Path, Step } from './path.ts';
import { pathText } from './path.ts';
import { type Each, isBlank, type Read, type Root, type Scope } from './scope.ts';

/**
 * Paths compiled to closures. A path of one or two keys, which nearly all are, has a closure of its own: it is what most of
 * the time of a record goes into.
 */
export function compileRead(path: Path, traced: boolean): Read {
  if (path.start === 'key') return (scope) => scope.key;
  if (path.steps.some((step) => step.kind === 'each')) return firstOf(compileEach(path, traced));
  if (traced) return tracedRead(path);
  const [one, two] = path.steps;
  if (path.start === 'item' && path.up === 0 && one?.kind === 'key' && !ofLists(one.key)) {
    if (two === undefined) return keyOf(one.key);
    if (two.kind === 'key' && path.steps.length === 2 && !ofLists(two.key)) return keyOfKey(one.key, two.key);
  }
  const { steps } = path;
  const start = starter(path);
  return (scope) => {
    let value: Json | undefined = start(scope)?.item;
    for (const step of steps) value = stepInto(value, step);
    return value;
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

/** `length`, `map` and the like are there on every JavaScript list and are nothing that the partner sent. */
function ofLists(key: string): boolean {
  return key in Array.prototype;
}

function stepInto(value: Json | undefined, step: Step): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (step.kind === 'key')
    return Array.isArray(value) && ofLists(step.key) ? undefined : (value as { [key: string]: Json })[step.key];
  return step.kind === 'index' && Array.isArray(value) ? value.at(step.index) : undefined;
}

type Start = (scope: Scope) => Scope | undefined;

function starter(path: Path): Start {
  if (path.start === 'record') return (scope) => scope.root.record;
  if (path.start === 'body') return (scope) => aside(scope.root, scope.root.body, '$body');
  if (path.start === 'rows') return (scope) => aside(scope.root, scope.root.rows as Json[] | undefined, '');
  const { up } = path;
  if (up === 0) return (scope) => scope;
  return (scope) => {
    let found: Scope | undefined = scope;
    for (let level = 0; level < up; level++) found = found?.up;
    return found;
  };
}

function aside(root: Root, item: Json | undefined, at: string): Scope {
  return { item, key: 0, up: undefined, root, at, group: undefined };
}

/** A path with [] that must give one value gives the first that is not empty. */
function firstOf(each: Each): Read {
  return (scope) => {
    for (const found of each(scope)) {
      if (!isBlank(found.item)) {
        note(found);
        return found.item;
      }
    }
    return undefined;
  };
}

function tracedRead(path: Path): Read {
  const start = starter(path);
  return (scope) => {
    const from = start(scope);
    if (from === undefined) return undefined;
    let value = from.item;
    let at = from.at;
    let there = path.steps.length > 0 || value !== undefined;
    for (const step of path.steps) {
      const next = stepInto(value, step);
      const key = step.kind === 'key' ? step.key : step.kind === 'index' ? indexOf(value, step.index) : 0;
      there = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
      at = pathText(at, key);
      value = next;
    }
    const trace = scope.root.trace;
    if (there && trace !== undefined) {
      trace.present = true;
      trace.touched.add(at);
      if (!isBlank(value)) trace.sources.push(at);
    }
    return value;
  };
}

function indexOf(value: Json | undefined, index: number): number {
  return index < 0 && Array.isArray(value) ? value.length + index : index;
}

/** Tells the trace that an item was taken as a value. */
function note(found: Scope): void {
  const trace = found.root.trace;
  if (trace === undefined) return;
  trace.present = true;
  trace.touched.add(found.at);
  trace.sources.push(found.at);
}

/**
 * The items at a path, each with the item it lies in as its parent. A list at the end gives its items, an object is one
 * item, null and absence are none; `[]` goes through a list or through the values of an object.
 */
export function compileEach(path: Path, traced: boolean): Each {
  const [only] = path.steps;
  if (!traced && path.start === 'item' && path.up === 0 && path.steps.length === 1 && only?.kind === 'key')
    return listAt(only);
  const start = starter(path);
  const { steps } = path;
  return (scope) => {
    const from = start(scope);
    const out: Scope[] = [];
    if (from !== undefined) walk(from, from.item, from.at, steps, 0, out, traced);
    return out;
  };
}

/** The list of that name, as most are found. */
function listAt(step: Step): Each {
  return (scope) => {
    const value = stepInto(scope.item, step);
    const out: Scope[] = [];
    finish(scope, value, '', step, out, false);
    return out;
  };
}

function walk(
  parent: Scope,
  value: Json | undefined,
  at: string,
  steps: readonly Step[],
  index: number,
  out: Scope[],
  traced: boolean,
): void {
  const step = steps[index];
  if (step === undefined) {
    finish(parent, value, at, steps[index - 1], out, traced);
    return;
  }
  if (step.kind !== 'each') {
    const key = step.kind === 'key' ? step.key : indexOf(value, step.index);
    if (traced && typeof value === 'object' && value !== null && Object.hasOwn(value, key)) present(parent);
    walk(parent, stepInto(value, step), traced ? pathText(at, key) : '', steps, index + 1, out, traced);
    return;
  }
  const last = index === steps.length - 1;
  for (const item of entries(parent, value, at, traced)) {
    if (last) out.push(item);
    else walk(item, item.item, item.at, steps, index + 1, out, traced);
  }
}

function finish(
  parent: Scope,
  value: Json | undefined,
  at: string,
  step: Step | undefined,
  out: Scope[],
  traced: boolean,
): void {
  if (Array.isArray(value)) {
    const { root } = parent;
    for (let key = 0; key < value.length; key++)
      out.push({ item: value[key], key, up: parent, root, at: traced ? pathText(at, key) : '', group: undefined });
  } else if (value !== undefined && value !== null) {
    const key = step === undefined || step.kind === 'each' ? 0 : step.kind === 'key' ? step.key : step.index;
    // The item itself ($item, $parent) is no deeper level: its parent is the one it has.
    out.push(step === undefined ? parent : { item: value, key, up: parent, root: parent.root, at, group: undefined });
  }
}

function entries(parent: Scope, value: Json | undefined, at: string, traced: boolean): Scope[] {
  const { root } = parent;
  if (Array.isArray(value)) {
    return value.map((item, key) => ({
      item,
      key,
      up: parent,
      root,
      at: traced ? pathText(at, key) : '',
      group: undefined,
    }));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([key, item]) => ({
    item,
    key,
    up: parent,
    root,
    at: traced ? pathText(at, key) : '',
    group: undefined,
  }));
}

function present(scope: Scope): void {
  if (scope.root.trace !== undefined) scope.root.trace.present = true;
}

/** Reads without being an origin of the value. */
export function silent(read: Read): Read {
  return (scope) => {
    const trace = scope.root.trace;
    if (trace === undefined) return read(scope);
    const { sources, present } = trace;
    trace.sources = [];
    const value = read(scope);
    trace.sources = sources;
    trace.present = present;
    return value;
  };
}
