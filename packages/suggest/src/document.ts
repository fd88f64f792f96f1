import type { ListName } from '../../../src/core/canonical/fields.ts';
import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { type Leaf, present } from './leaf.ts';
import type { Paging } from './paging.ts';
import type { Root } from './root.ts';
import { asLine, type FieldLine, type Section } from './section.ts';

/** The proposed document, apart from its fields. */

export type Sections = Readonly<Record<ListName, readonly Section[]>>;

export interface FlatShape {
  readonly shape: JsonObject;
  readonly reason: string;
}

/** A list that was not found becomes `false`, so that a raw field of the same name is not mapped by accident. */
export function listsOf(sections: Sections): JsonObject {
  return Object.fromEntries(
    (['guests', 'rooms', 'charges'] as const).map((name): [string, Json] => {
      const maps = sections[name].map(({ map }) => map);
      return [name, maps.length === 0 ? false : maps.length === 1 ? (maps[0] ?? false) : maps];
    }),
  );
}

export function shapeOf(root: Root, paging: Paging, flat: FlatShape | undefined): JsonObject {
  return {
    ...(root.path !== undefined && { root_path: root.path }),
    ...(root.single && { object_is_one: true }),
    ...(paging.total !== undefined && { total: paging.total }),
    ...(flat !== undefined && { flat: flat.shape }),
  };
}

/** A response does not show its request, so the names of the interface description are proposed. */
export function pullOf(paging: Paging): JsonObject {
  return {
    request: {
      method: 'GET',
      path: '/api/reservations',
      query: { dateFrom: '{window.from}', dateTo: '{window.to}' },
    },
    pagination: paging.pagination,
  };
}

export function envelopeLines(root: Root, paging: Paging, flat: FlatShape | undefined): FieldLine[] {
  return [
    asLine('shape.root_path', root.path ?? '(the response itself)', root),
    ...(flat === undefined ? [] : [asLine('shape.flat', flat.shape.key, { ...flat, confidence: 0.85 })]),
    asLine('pull.pagination', paging.pagination.type, paging),
  ];
}

/** Paths with values in the sample that the proposed mapping does not use. */
export function unmappedIn(leaves: readonly Leaf[], connector: JsonObject): string[] {
  const named = new Set<string>();
  collect(connector.map, [], named);
  collect(connector.shape, [], named);
  const isOpen = (leaf: Leaf) => present(leaf).length > 0 && !leaf.path.includes('=') && !named.has(bared(leaf.path));
  const open = new Set(leaves.filter(isOpen).map(({ path }) => path.replace(/\[0\]$/, '')));
  // The first item of a list is named by the list's own paths already.
  return [...open].filter((path) => !/\[0\]/.test(path) || !open.has(path.replaceAll('[0]', '.*')));
}

/** Collects every text of the mapping, alone and prefixed with its list. */
function collect(value: Json | undefined, lists: readonly string[], named: Set<string>): void {
  if (typeof value === 'string') {
    const bare = bared(value);
    for (const list of ['', ...lists]) named.add(list === '' ? bare : `${list}.${bare}`);
  } else if (Array.isArray(value)) {
    for (const one of value) collect(one, lists, named);
  } else if (typeof value === 'object' && value !== null) {
    const { from, ...rest } = value;
    collect(from, lists, named);
    const inner =
      from === undefined
        ? lists
        : textsIn(from)
            .map(bared)
            .filter((text) => text !== '');
    for (const [key, one] of Object.entries(rest)) {
      collect(one, inner, named);
      // The keys of a condition are paths.
      if (key === 'where' || key === 'when') collect([one].flat().filter(isObject).flatMap(Object.keys), inner, named);
    }
  }
}

const bared = (path: string) =>
  path
    .replace(/^\$(?:record|item|parent)\.?/, '')
    .replaceAll('.*', '')
    .replace(/\[[^\]]*\]/g, '');

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
