import type { Connector } from '../documents/connector.ts';
import type { Integration } from '../documents/integration.ts';
import type { Bodies } from '../documents/kinds.ts';
import { durationMs } from '../documents/units.ts';
import type { NormalizeContext } from '../normalize/normalize.ts';
import type { Scope } from '../reconcile/content.ts';
import type { Receipt } from '../reconcile/forms.ts';
import type { MappingProblem, ShapeConfig } from '../shape/config.ts';
import { type CompiledShape, compilePushShape, compileShape, compileSingleShape, type Shaper } from '../shape/shape.ts';
import { compileRules, type RuleSet } from '../transform/rules.ts';

type OfMode<Of> = { readonly [Mode in Receipt['mode']]: Of };

/** How every record of one integration is read and decided, compiled from its documents once (pipeline.ts). */
export interface Plan {
  /** By the way of arrival: a partner's list, its answer for one reservation, its events. */
  readonly shapers: OfMode<Shaper>;
  readonly scopes: OfMode<Scope>;
  readonly rules: RuleSet;
  readonly region: NormalizeContext;
  /** Precedes the partner's ids, for a brand that moved here from another system. */
  readonly idPrefix: string | undefined;
  /** Pulled rows may be incomplete, such as bare cancellations; they then change a stored record. */
  readonly partialRows: boolean;
  /** For how long a list may repeat a row from before an event without overturning the event. */
  readonly lagMs: number;
}

/** The spellings that hold for all connectors. */
export type Spellings = NonNullable<Bodies['workspace']['spellings']>;

interface PathProblem {
  readonly document: 'connector' | 'integration';
  /** Inside the document, such as map.guests.fields.email. */
  readonly path: string;
  readonly message: string;
  /** The character inside the text at that path. */
  readonly offset?: number;
}

/** The part of a path that all brands of a connector in the same time zone share. */
export interface Shapes {
  readonly pull: CompiledShape;
  readonly push: CompiledShape;
  readonly single: CompiledShape;
}

export function compileShapes(connector: Connector, timezone: string, spellings?: Spellings): Shapes {
  const { shape, map, values, unknown_status: unknownStatus } = connector;
  const receipt = connector.pull?.acknowledge?.ids;
  const config: ShapeConfig = { shape, map, values, spellings, receipt, timezone, unknownStatus };
  const pull = compileShape(config);
  const singleMap = connector.pull?.single?.map;
  return {
    pull,
    push: compilePushShape(config, connector.push?.map),
    single: singleMap === undefined ? pull : compileSingleShape(config, singleMap),
  };
}

export function compilePlan(
  connector: Connector,
  integration: Integration,
  shapes: Shapes = compileShapes(connector, integration.timezone),
): { kind: 'ok'; plan: Plan } | { kind: 'invalid'; problems: PathProblem[] } {
  const { pull, push, single } = shapes;
  const about = {
    integration: integration.integration,
    brand_id: integration.brand_id,
    ...(integration.country !== undefined && { country: integration.country }),
  };
  const rules = compileRules(integration.transforms, about);
  if (pull.kind === 'ok' && push.kind === 'ok' && single.kind === 'ok' && rules.kind === 'ok') {
    const shapers = { pull: pull.shaper, push: push.shaper, single: single.shaper };
    return { kind: 'ok', plan: planOf(connector, integration, shapers, rules.rules) };
  }
  const problems: PathProblem[] = shapeProblems(shapes).map((problem) => ({ document: 'connector', ...problem }));
  if (rules.kind === 'invalid')
    problems.push(...rules.problems.map((problem) => ({ document: 'integration' as const, ...problem })));
  return { kind: 'invalid', problems };
}

function planOf(connector: Connector, integration: Integration, shapers: OfMode<Shaper>, rules: RuleSet): Plan {
  const { absent = 'keep', lists = 'replace' } = connector.push ?? {};
  return {
    shapers,
    scopes: {
      pull: { fields: 'full', lists: 'full' },
      single: { fields: 'partial', lists: 'full' },
      push: { fields: absent === 'clear' ? 'full' : 'partial', lists: lists === 'merge' ? 'partial' : 'full' },
    },
    rules,
    region: { country: integration.country },
    idPrefix: integration.id_prefix,
    partialRows: connector.shape?.also?.some(({ partial }) => partial === true) === true,
    lagMs: durationMs(integration.pull?.lag ?? '30m'),
  };
}

/** The mistakes of a connector that no integration uses yet. */
export function connectorProblems(connector: Connector): MappingProblem[] {
  return shapeProblems(compileShapes(connector, 'UTC'));
}

/**
 * Events and single answers use the connector's map unless they have their own, so its mistakes appear in each; they are reported
 * once.
 */
function shapeProblems({ pull, push, single }: Shapes): MappingProblem[] {
  const problems = new Map<string, MappingProblem>();
  for (const shape of [pull, push, single]) {
    for (const problem of shape.kind === 'ok' ? [] : shape.problems) {
      const own = problem.path.startsWith('push.') || problem.path.startsWith('pull.');
      if (own || problems.size === 0 || shape === pull) problems.set(`${problem.path} ${problem.message}`, problem);
    }
  }
  return [...problems.values()];
}
