/** Completions for a position in a YAML document, from its JSON Schema. */
export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly writeOnly?: boolean;
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

export interface Offers {
  /** Where the word at the caret begins. */
  readonly from: number;
  readonly words: readonly string[];
}

export function offersAt(text: string, caret: number, schema: Schema, paths: readonly string[]): Offers | undefined {
  const start = text.lastIndexOf('\n', caret - 1) + 1;
  const line = text.slice(start, caret);
  if (/^\s*#/.test(line)) return undefined;
  const value = /^(\s*(?:- )?)([\w-]+):\s+(?:.*[{,:[]\s*)?([\w.[\]-]*)$/.exec(line);
  const word = (value ? value[3] : /([\w-]*)$/.exec(line)?.[1]) ?? '';
  const parents = keysAbove(text.slice(0, start), indentOf(line));
  const path = value ? [...parents, value[2] ?? ''] : parents;
  const places = walk([schema], path, schema);
  const known = value ? [...valuesOf(places, schema), ...(path.includes('map') ? paths : [])] : keysOf(places, schema);
  const words = [...new Set(known)].filter((one) => one.startsWith(word) && one !== word).slice(0, 40);
  return words.length === 0 ? undefined : { from: caret - word.length, words };
}

const indentOf = (line: string): number => /^[\s-]*/.exec(line)?.[0].length ?? 0;

/** The keys that enclose a position, found by indentation, outermost first. */
function keysAbove(before: string, indent: number): string[] {
  const keys: string[] = [];
  let least = indent;
  for (const line of before.split('\n').toReversed()) {
    const entry = /^(\s*(?:- )?)([\w-]+):/.exec(line);
    if (!entry || line.trim().startsWith('#')) continue;
    const depth = entry[1]?.length ?? 0;
    if (depth >= least) continue;
    keys.unshift(entry[2] ?? '');
    least = depth;
    if (depth === 0) break;
  }
  return keys;
}

function walk(places: readonly Schema[], path: readonly string[], root: Schema): Schema[] {
  let here = places.flatMap((place) => flat(place, root));
  for (const key of path) {
    here = here
      .flatMap((place) => {
        const next = place.properties?.[key] ?? place.additionalProperties;
        return typeof next === 'object' ? flat(next, root) : [];
      })
      .flatMap((place) => (typeof place.items === 'object' ? [place, ...flat(place.items, root)] : [place]));
  }
  return here;
}

/** A schema with everything that it refers to or combines. */
function flat(schema: Schema, root: Schema, depth = 0): Schema[] {
  if (depth > 8) return [];
  const name = schema.$ref?.split('/').at(-1);
  const target = name === undefined ? undefined : (root.definitions?.[name] ?? root.$defs?.[name]);
  const inner = [
    ...(target ? [target] : []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
  ];
  return [schema, ...inner.flatMap((one) => flat(one, root, depth + 1))];
}

const keysOf = (places: readonly Schema[], root: Schema): string[] =>
  places.flatMap((place) => flat(place, root)).flatMap(({ properties }) => Object.keys(properties ?? {}));

const valuesOf = (places: readonly Schema[], root: Schema): string[] =>
  places
    .flatMap((place) => flat(place, root))
    .flatMap((place) => [
      ...(place.enum ?? []),
      ...(place.const === undefined ? [] : [place.const]),
      ...(place.type === 'boolean' ? ['true', 'false'] : []),
      ...Object.keys(place.properties ?? {}),
    ])
    .filter((one) => typeof one === 'string' || typeof one === 'number')
    .map(String);
