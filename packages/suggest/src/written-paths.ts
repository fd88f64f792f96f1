import { parsePath } from '../../../src/core/json-path/path.ts';
import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { child } from './leaf.ts';
import type { PlainPlace, Written } from './plain-json.ts';
import { wordSet } from './words.ts';

/** Where the paths of a mapping start. */
interface Scope {
  readonly body: PlainPlace;
  readonly record: PlainPlace;
  /** The item last, before it what encloses it. */
  readonly items: readonly PlainPlace[];
}

const nowhere: PlainPlace = { keys: new Map() };

/** A connector for the plain sample, with the paths that the response itself has. */
export function asWritten(connector: JsonObject, body: PlainPlace): JsonObject {
  const { shape = {}, pull, map } = connector as { shape?: JsonObject; pull: JsonObject; map: JsonObject };
  const whole: Scope = { body, record: body, items: [body] };
  const scope = recordScope(shape.root_path, body);
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
export function writtenPath(rootPath: Json | undefined, body: PlainPlace): (path: string) => string {
  const scope = recordScope(rootPath, body);
  return (path) =>
    path
      .split(', then ')
      .map((one) => walk(one, scope).text)
      .join(', then ');
}

function recordScope(rootPath: Json | undefined, body: PlainPlace): Scope {
  const whole: Scope = { body, record: body, items: [body] };
  const { places } = walk(typeof rootPath === 'string' ? rootPath : '$item', whole);
  return { body, record: places.at(-1) ?? nowhere, items: places };
}

const mapped = (object: JsonObject, change: (value: Json, key: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));

/** The keys of a mapping whose values are not paths. */
const literal = wordSet('const default values date number name empty split minor_units negate with country if_invalid');

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
function walk(text: string, scope: Scope): { readonly text: string; readonly places: readonly PlainPlace[] } {
  const parsed = parsePath(text, { spaces: true });
  if (parsed.kind === 'bad') return { text, places: [] };
  const { start, up, steps } = parsed.path;
  const [first] = steps;
  let out = first === undefined ? text : text.slice(0, first.offset);
  const outset = {
    body: scope.body,
    record: scope.record,
    rows: { keys: new Map(), items: { text: '', place: scope.record } },
  };
  let place: PlainPlace = start === 'item' || start === 'key' ? (scope.items.at(-1 - up) ?? nowhere) : outset[start];
  const places: PlainPlace[] = [];
  const enter = ({ text: more, place: next }: Written) => {
    out += more;
    place = next;
  };
  for (const step of steps) {
    if (step.kind === 'key') {
      const known = place.keys.get(step.key) ?? { text: child('', step.key), place: nowhere };
      const isCell = known.text.startsWith('[');
      if (out !== '' && !/[.]$/.test(out) && !isCell) out += '.';
      enter(known);
    } else {
      out += step.kind === 'each' ? '[]' : `[${step.index}]`;
      enter(place.items ?? { text: '', place: nowhere });
      if (step.kind === 'each') places.push(place);
    }
  }
  return { text: out, places: [...places, place.items?.place ?? place] };
}
