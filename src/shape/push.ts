import { type ListName, listFields, reservationFields } from '../canonical/fields.ts';
import { valueSources } from '../canonical/value-sources.ts';
import type { FieldMap, ListMap, MapConfig, ShapeConfig } from './config.ts';

/** Field names of events that differ from those of reservation lists. */
const eventNames: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>(
  Object.entries({ id: ['reservation_id', 'id'] }),
);
const eventLists: { readonly [List in ListName]: readonly string[] } = {
  guests: ['guests'],
  rooms: ['stays', 'rooms'],
  charges: ['charges'],
};
const eventItems: { readonly [List in ListName]: { readonly [field: string]: readonly string[] } } = {
  guests: {},
  rooms: { board: ['board_type', 'board'] },
  charges: {},
};

/**
 * The mapping of event data: `push.map` first, then `map`, then the names of the event envelope. The record is the data itself, never
 * flat rows.
 */
export function pushConfig(config: ShapeConfig, push: MapConfig | undefined): ShapeConfig {
  const { dates, numbers } = config.shape ?? {};
  return { ...config, shape: { dates, numbers }, map: mergeMaps(config.map ?? {}, push ?? {}) };
}

function mergeMaps(pull: MapConfig, push: MapConfig): MapConfig {
  const merged: { [field: string]: unknown } = {};
  for (const field of Object.keys(reservationFields) as (keyof typeof reservationFields)[])
    merged[field] = push[field] ?? fallback(pull[field], field, eventNames.get(field) ?? [field]);
  for (const name of Object.keys(listFields) as ListName[]) merged[name] = mergeList(name, pull[name], push[name]);
  merged.extra = { ...pull.extra, ...push.extra };
  if (push.where !== undefined) merged.where = push.where;
  return merged as MapConfig;
}

function fallback(pull: FieldMap | undefined, field: string, names: readonly string[]): FieldMap {
  if (pull === false) return false;
  // Events have no flat rows to compute over.
  if (JSON.stringify(pull)?.includes('$rows')) return fallback(undefined, field, names);
  // Modifiers alone apply to the field of the same name, also as one of several alternatives.
  const own =
    typeof pull === 'object' && !valueSources.some((source) => pull[source] !== undefined)
      ? { ...pull, path: field }
      : pull;
  const all: FieldMap[] = own === undefined ? [...names] : [own, ...names.filter((name) => name !== own)];
  const [only] = all;
  return all.length === 1 && only !== undefined ? only : { first: all };
}

function mergeList(name: ListName, pull: MapConfig[ListName], push: MapConfig[ListName]): unknown {
  if (push === false || Array.isArray(push)) return push;
  const own = (push ?? {}) as ListMap<string>;
  // Events contain their items: lists that are concatenated or joined from a table apply to list responses only.
  const based = (isPlain(pull) ? pull : {}) as ListMap<string>;
  if (pull === false && push === undefined) return false;
  const fields: { [field: string]: FieldMap } = {};
  for (const field of Object.keys(listFields[name]))
    fields[field] = own.fields?.[field] ?? fallback(based.fields?.[field], field, eventItems[name][field] ?? [field]);
  const lists = [
    ...new Set([
      ...(typeof based.from === 'string' && based.from !== '$item' ? [based.from] : []),
      ...eventLists[name],
    ]),
  ];
  const extra = { ...based.extra, ...own.extra };
  return { ...own, from: own.from ?? { first: lists }, id: own.id ?? based.id, fields, extra };
}

function isPlain(map: MapConfig[ListName]): boolean {
  return typeof map === 'object' && !Array.isArray(map) && !('join' in map && map.join !== undefined);
}
