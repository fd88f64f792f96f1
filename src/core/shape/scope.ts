import type { Json, Note, Origins } from '../../terms.ts';
import type { Path, Step } from '../json-path/path.ts';

/** A path of the mapping, and where the document states it. */
export interface MappingPath extends Path {
  readonly use?: PathUse | undefined;
}

export interface PathUse {
  readonly at: string;
  readonly text: string;
}

/** A spelling that the value map does not list: kept unchanged, counted and shown to the operator. */
export interface Drift {
  readonly field: string;
  readonly value: string;
}

/** What reading a record did, collected when somebody asks for it: origins cost nothing for other records. */
export class Trace {
  /** Raw paths that gave the value of the current field. */
  sources: string[] = [];
  /** Whether the partner sent a key that the current field reads, even with null. */
  present = false;
  /** Every raw path that was read. */
  readonly touched = new Set<string>();
  readonly origins: Origins = {};
  /** Fields of list items for which the partner sent something, even null. */
  readonly itemKeys = new Set<string>();
  /** Rows found in tables of the response: path of the table to the keys of its rows. */
  readonly tables = new Map<string, Set<string | number>>();
  /** Every place outside the record that was looked at, whether something was there or not. */
  readonly outside = new Set<string>();
  /** The paths that found something, and those that did not; neither if a path only passed through empty lists. */
  readonly found = new Set<PathUse>();
  readonly missed = new Set<PathUse>();

  mark(use: PathUse | undefined, isPresent: boolean): void {
    if (use !== undefined) (isPresent ? this.found : this.missed).add(use);
  }
}

/** Shared by all scopes of one record while it is read. */
export interface Root {
  record: Scope | undefined;
  /** Index of the canonical list item being built. */
  index: number;
  readonly body: Json | undefined;
  readonly rows: readonly Json[] | undefined;
  readonly notes: Note[];
  readonly drift: Drift[];
  readonly trace: Trace | undefined;
  /** Fields whose value is the connector's constant or default, because the partner sent nothing for them. */
  assumed: Set<string> | undefined;
}

/** The item that a path starts from, with its surroundings. */
export interface Scope {
  readonly item: Json | undefined;
  /** The item's index or key in its list. */
  readonly key: string | number;
  readonly up: Scope | undefined;
  readonly root: Root;
  /** The item's own path, only while tracing. */
  readonly at: string;
  /** For flat rows: the rows of this item, the one that wins a conflict first. */
  readonly group: readonly Scope[] | undefined;
}

/** The value at a place: undefined if the partner did not send the key, null if it sent the key without a value. */
export type Read = (scope: Scope) => Json | undefined;
export type Each = (scope: Scope) => readonly Scope[];

export function isBlank(value: Json | undefined): value is undefined | null | '' {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'string') return false;
  if (value.length === 0) return true;
  // Trim only if the first character can be a space.
  const first = value.charCodeAt(0);
  return (first <= 32 || first >= 128) && value.trim() === '';
}

/** An object or a list without content, as converters of XML write an empty element. */
export function isHollow(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const _ in value) return false;
  return true;
}

/** A scalar as text, so that 7 and "7" are one key; undefined for anything else. */
export function keyText(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The value one step further, or undefined. `[]` is not a single step. */
export function stepInto(value: Json | undefined, step: Step): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (step.kind === 'key')
    return Array.isArray(value) && isOfLists(step.key) ? undefined : (value as { [key: string]: Json })[step.key];
  if (step.kind !== 'index') return undefined;
  // A single object is a list of one.
  return Array.isArray(value) ? value.at(step.index) : step.index === 0 || step.index === -1 ? value : undefined;
}

/** True for `length`, `map` and other members of JavaScript arrays: the partner did not send them. */
export function isOfLists(key: string): boolean {
  return key in Array.prototype;
}

/** The concrete key of a step in this value: index -1 is the last position. */
export function keyOfStep(value: Json | undefined, step: Step): string | number {
  if (step.kind === 'key') return step.key;
  if (step.kind === 'each') return 0;
  return step.index < 0 && Array.isArray(value) ? value.length + step.index : step.index;
}

export function isThere(value: Json | undefined, key: string | number): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}

/** The scope in which a path starts. */
export function startOf(path: Path): (scope: Scope) => Scope | undefined {
  if (path.start === 'record') return (scope) => scope.root.record;
  const text = [...path.steps.map(stepText), ...(path.start === 'key' ? ['.$key'] : [])].join('');
  if (path.start === 'body') {
    return ({ root }) => {
      root.trace?.outside.add(`$body${text}`);
      return scopeAt(root, root.body, '$body');
    };
  }
  if (path.start === 'rows') return (scope) => scopeAt(scope.root, scope.root.rows as Json[] | undefined, '');
  const { up } = path;
  if (up === 0 && path.start !== 'key') return (scope) => scope;
  return (scope) => {
    let target: Scope | undefined = scope;
    for (let level = 0; level < up; level++) target = target?.up;
    if (scope.root.trace !== undefined) addOutside(scope.root.trace, target, text);
    return target;
  };
}

const stepText = (step: Step): string =>
  step.kind === 'key' ? `.${step.key}` : step.kind === 'index' ? `[${step.index}]` : '[]';

function addOutside({ outside }: Trace, target: Scope | undefined, text: string): void {
  if (target === undefined || target.at.startsWith('$parent')) outside.add(`${target?.at ?? '$parent'}${text}`);
  else if (text.endsWith('$key') && target === target.root.record) outside.add('$key');
}

function scopeAt(root: Root, item: Json | undefined, at: string): Scope {
  return { item, key: 0, up: undefined, root, at, group: undefined };
}
