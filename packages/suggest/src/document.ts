import type { ListName } from '../../../src/core/canonical/fields.ts';
import type { ShapeConfig } from '../../../src/core/shape/config.ts';
import { compileShape } from '../../../src/core/shape/shape.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import { areIds } from './leaf.ts';
import type { Paging } from './paging.ts';
import { most, type Root } from './root.ts';
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

/** Paths of the sample's records that the proposed mapping does not read. */
export function unmappedIn(sample: Json, { shape, map, values }: JsonObject): string[] {
  const config = { shape, map, values, timezone: 'UTC', unknownStatus: 'other' } as unknown as ShapeConfig;
  const compiled = compileShape(config);
  const listed = compiled.kind === 'ok' ? compiled.shaper.records(sample) : compiled;
  if (compiled.kind !== 'ok' || listed.kind !== 'ok') return [];
  const paths = listed.records.slice(0, most).flatMap((raw) => compiled.shaper.unmapped(raw));
  // Keys that are data themselves.
  const general = (path: string) => path.replace(/\.([^.[\]]+)/g, (step, key: string) => (areIds([key]) ? '[]' : step));
  return [...new Set(paths.map(general))];
}
