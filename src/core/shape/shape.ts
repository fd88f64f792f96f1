import { type ListName, listFields, reservationFields } from '../canonical/fields.ts';
import { valueSources } from '../canonical/value-sources.ts';
import { newEnv, type Shaper, shaperOf } from './compiled-shaper.ts';
import type { FieldMap, ListMap, MapConfig, MappingProblem, ShapeConfig } from './config.ts';
import { checkConfig } from './config-check.ts';
import { compileBuilder } from './draft.ts';
import { compileFlatKey } from './flat.ts';
import { compileRows } from './rows.ts';

export type { Shaper } from './compiled-shaper.ts';
export type { RawRecord } from './config.ts';
export type { Draft } from './draft.ts';

export type CompiledShape =
  | { readonly kind: 'ok'; readonly shaper: Shaper }
  | { readonly kind: 'invalid'; readonly problems: MappingProblem[] };

/** Compiles a connector's mapping and reports all its mistakes at once. */
export function compileShape(config: ShapeConfig): CompiledShape {
  return compileAt(config, 'map');
}

/**
 * Compiles the mapping of event data: `push` overrides the connector's map. The connector's own map was compiled before, so every
 * problem found here is in `push.map`.
 */
export function compilePushShape(config: ShapeConfig, push: MapConfig | undefined): CompiledShape {
  const alone = compileAt({ ...pushConfig(config, undefined), map: push }, 'push.map');
  return alone.kind === 'invalid' ? alone : compileAt(pushConfig(config, push), 'map');
}

/**
 * Compiles the mapping of a single reservation's answer, if it differs from the list: `single` overrides the connector's map, lists as
 * a whole. With flat rows it overrides nothing, because a single answer has no rows.
 */
export function compileSingleShape(config: ShapeConfig, single: MapConfig): CompiledShape {
  const { flat, ...shape } = config.shape ?? {};
  const alone = compileAt({ ...config, shape, map: single }, 'pull.single.map');
  if (alone.kind === 'invalid' || flat !== undefined) return alone;
  return compileAt({ ...config, shape, map: { ...config.map, ...single } }, 'map');
}

function compileAt(config: ShapeConfig, mapAt: string): CompiledShape {
  const env = newEnv(config, mapAt);
  checkConfig(config, env);
  const rows = compileRows(config.shape ?? {}, env);
  const builder = compileBuilder(config, env);
  const flatKey = config.shape?.flat?.key;
  const rowKey = flatKey === undefined ? undefined : compileFlatKey(flatKey, 'shape.flat.key', env);
  const receipt =
    config.receipt === undefined ? undefined : compileFlatKey(config.receipt, 'pull.acknowledge.ids', env);
  if (env.problems.length > 0) return { kind: 'invalid', problems: distinct(env.problems) };
  return { kind: 'ok', shaper: shaperOf(config, env, rows, builder, rowKey, receipt) };
}

/** The key of flat rows is compiled twice, for rows and for items: report its mistake once. */
function distinct(problems: readonly MappingProblem[]): MappingProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem])).values()];
}

/** Field names of events that differ from those of reservation lists. */
export const eventLists: { readonly [List in ListName]: readonly string[] } = {
  guests: ['guests'],
  rooms: ['stays', 'rooms'],
  charges: ['charges'],
};
export const eventItems: { readonly [List in ListName]: { readonly [field: string]: readonly string[] } } = {
  guests: {},
  rooms: { board: ['board_type', 'board'] },
  charges: {},
};

/**
 * The mapping of event data: `push.map` first, then `map`, then the names of the event envelope. The record is the data itself, never
 * flat rows.
 */
function pushConfig(config: ShapeConfig, push: MapConfig | undefined): ShapeConfig {
  return { ...config, shape: { dates: config.shape?.dates }, map: mergeMaps(config.map ?? {}, push ?? {}) };
}

function mergeMaps(pull: MapConfig, push: MapConfig): MapConfig {
  const merged: { [field: string]: unknown } = {};
  for (const field of Object.keys(reservationFields) as (keyof typeof reservationFields)[])
    merged[field] = push[field] ?? fallback(pull[field], field, field === 'id' ? ['reservation_id', 'id'] : [field]);
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
  const [only = false] = all;
  return all.length === 1 ? only : { first: all };
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
  const listed = typeof based.from === 'string' && based.from !== '$item' ? [based.from] : [];
  const lists = [...new Set([...listed, ...eventLists[name]])];
  const extra = { ...based.extra, ...own.extra };
  return { ...own, from: own.from ?? { first: lists }, id: own.id ?? based.id, fields, extra };
}

function isPlain(map: MapConfig[ListName]): boolean {
  return typeof map === 'object' && !Array.isArray(map) && !('join' in map && map.join !== undefined);
}
