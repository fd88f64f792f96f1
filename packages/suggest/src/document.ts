import type { ListName } from '../../../src/canonical/fields.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import { asLine, type FieldLine } from './field.ts';
import type { Paging } from './paging.ts';
import type { Root } from './root.ts';
import type { Section } from './section.ts';

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
