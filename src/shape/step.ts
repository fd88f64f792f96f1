import type { Path, Step } from '../json-path/path.ts';
import type { Json } from '../terms.ts';
import type { Root, Scope, Trace } from './scope.ts';

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
  const text = [...path.steps.map(textOf), ...(path.start === 'key' ? ['.$key'] : [])].join('');
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
    let found: Scope | undefined = scope;
    for (let level = 0; level < up; level++) found = found?.up;
    if (scope.root.trace !== undefined) addOutside(scope.root.trace, found, text);
    return found;
  };
}

const textOf = (step: Step): string =>
  step.kind === 'key' ? `.${step.key}` : step.kind === 'index' ? `[${step.index}]` : '[]';

function addOutside({ outside }: Trace, found: Scope | undefined, text: string): void {
  if (found === undefined || found.at.startsWith('$parent')) outside.add(`${found?.at ?? '$parent'}${text}`);
  else if (text.endsWith('$key') && found === found.root.record) outside.add('$key');
}

function scopeAt(root: Root, item: Json | undefined, at: string): Scope {
  return { item, key: 0, up: undefined, root, at, group: undefined };
}
