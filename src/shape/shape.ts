import { CompiledShaper, newEnv } from './compiled-shaper.ts';
import type { MapConfig, MappingProblem, ShapeConfig } from './config.ts';
import { checkConfig } from './config-check.ts';
import { compileBuilder } from './draft.ts';
import { compileFlatKey } from './flat.ts';
import { pushConfig } from './push.ts';
import { compileRows } from './rows.ts';
import type { Shaper } from './shaper.ts';

export type { RawRecord } from './config.ts';
export type { Draft, Shaper } from './shaper.ts';

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
  const env = newEnv(config, mapAt, false);
  checkConfig(config, env);
  const rows = compileRows(config.shape ?? {}, env);
  const builder = compileBuilder(config, env);
  const flatKey = config.shape?.flat?.key;
  const rowKey = flatKey === undefined ? undefined : compileFlatKey(flatKey, 'shape.flat.key', env);
  if (env.problems.length > 0) return { kind: 'invalid', problems: distinct(env.problems) };
  return { kind: 'ok', shaper: new CompiledShaper(config, env, rows, builder, rowKey) };
}

/** The key of flat rows is compiled twice, for rows and for items: report its mistake once. */
function distinct(problems: readonly MappingProblem[]): MappingProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem])).values()];
}
