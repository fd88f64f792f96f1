import { parsePath } from '../../../src/core/json-path/path.ts';
import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { child } from './leaf.ts';
import type { Place } from './plain-json.ts';
import { wordSet } from './words.ts';

/** Where the paths of a mapping start. */
interface Scope {
  readonly paths: ReadonlyMap<string, string>;
  readonly record: Place;
  /** The item last, before it what encloses it. */
  readonly items: readonly Place[];
}

const bodyOf = (paths: Scope['paths']): Place => ({ plain: '', written: paths.get('') ?? '' });

/** A connector for the plain sample, with the paths that the response itself has. */
export function asWritten(connector: JsonObject, paths: Scope['paths']): JsonObject {
  const { shape = {}, pull, map } = connector as { shape?: JsonObject; pull: JsonObject; map: JsonObject };
  const whole = wholeOf(paths);
  const scope = recordScope(shape.root_path, whole);
  return {
    ...connector,
    pull: {
      ...pull,
      pagination: mapped(pull.pagination as JsonObject, (at, key) => (key === 'next' ? source(at, whole) : at)),
    },
    ...(connector.shape !== undefined && { shape: mapped(shape, (path) => source(path, whole)) }),
    map: mapped(map, (field) => source(field, scope)),
  };
}

/** For the paths of the reasons. */
export function writtenPath(rootPath: Json | undefined, paths: Scope['paths']): (path: string) => string {
  const scope = recordScope(rootPath, wholeOf(paths));
  return (path) =>
    path
      .split(', then ')
      .map((one) => walk(one, scope).text)
      .join(', then ');
}

const wholeOf = (paths: Scope['paths']): Scope => ({ paths, record: bodyOf(paths), items: [bodyOf(paths)] });

function recordScope(rootPath: Json | undefined, whole: Scope): Scope {
  const { places } = walk(typeof rootPath === 'string' ? rootPath : '$item', whole);
  return { ...whole, record: places.at(-1) ?? whole.record, items: places };
}

const mapped = (object: JsonObject, change: (value: Json, key: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));

/** The keys of a mapping whose values are not paths. */
const literal = wordSet('const default values date number name empty minor_units negate with if_invalid');

function source(value: Json, scope: Scope): Json {
  if (typeof value === 'string') return walk(value, scope).text;
  if (Array.isArray(value)) return value.map((one) => source(one, scope));
  if (!isObject(value)) return value;
  const inner = listScope(value, scope);
  return mapped(value, (part, key) => {
    if (literal.has(key)) return part;
    if (key === 'from') return withoutIndex(source(part, scope));
    if (key === 'when' || key === 'where') return condition(part, key === 'when' ? scope : inner);
    return source(part, key === 'fields' || key === 'value' ? inner : scope);
  });
}

/** A list of one is read as the list, so that a second item is not lost. */
const withoutIndex = (from: Json): Json => (typeof from === 'string' ? from.replace(/\[0\]$/, '') : from);

const condition = (tests: Json, scope: Scope): Json =>
  isObject(tests)
    ? Object.fromEntries(Object.entries(tests).map(([path, test]) => [walk(path, scope).text, test]))
    : tests;

/** Inside the items of a list of the mapping. */
const listScope = ({ from }: JsonObject, scope: Scope): Scope =>
  typeof from !== 'string' || from === '$item'
    ? scope
    : { ...scope, items: [...scope.items, ...walk(from, scope).places] };

/** The path as the response has it, and the items it passes: each list's item, and the place at its end. */
function walk(text: string, scope: Scope): { readonly text: string; readonly places: readonly Place[] } {
  const { paths, record, items } = scope;
  const parsed = parsePath(text, { spaces: true });
  if (parsed.kind === 'bad') return { text, places: [] };
  const { start, up, steps } = parsed.path;
  const body = bodyOf(paths);
  const outset = start === 'body' ? body : start === 'record' ? record : (items.at(-1 - up) ?? body);
  let { plain, written } = outset;
  const places: Place[] = [];
  const indexes: string[] = [];
  for (const step of steps) {
    plain = step.kind === 'key' ? child(plain, step.key) : `${plain}[]`;
    written = paths.get(plain) ?? (step.kind === 'key' ? child(written, step.key) : `${written}[]`);
    if (step.kind !== 'key') indexes.push(step.kind === 'each' ? '[]' : `[${step.index}]`);
    if (step.kind === 'each') places.push({ plain, written });
  }
  const item = paths.get(`${plain}[]`);
  places.push(item === undefined ? { plain, written } : { plain: `${plain}[]`, written: item });
  const [first] = steps;
  if (first === undefined) return { text, places };
  const below = written.slice(outset.written.length).replace(/^\./, '');
  return { text: text.slice(0, first.offset) + below.replace(/\[\]/g, () => indexes.shift() ?? '[]'), places };
}
