import type { Guest } from '../canonical/reservation.ts';
import type { Connector } from '../documents/connector.ts';
import type { Integration } from '../documents/integration.ts';
import type { Bodies } from '../documents/kinds.ts';
import { type GuestRead, readGuest, ruleProfile } from '../pipeline/guest.ts';
import { amend, prepareRecord, type Steps } from '../pipeline.ts';
import type { GuestUpdate, RuledGuest } from '../reconcile/guest-update.ts';
import type { Amendment, Arrival, Message, Prepared } from '../reconcile/incoming.ts';
import type { MappingProblem, RawRecord, ShapeConfig } from '../shape/config.ts';
import { compileDates, type DateReader } from '../shape/dates.ts';
import { type CompiledShape, compilePushShape, compileShape, compileSingleShape, type Shaper } from '../shape/shape.ts';
import type { Adjust } from '../shape/shaper.ts';
import { asList } from '../shape/table.ts';
import type { Json } from '../terms.ts';
import { compileRules, type RuleSet } from '../transform/rules.ts';

/** The path of every record, for one integration: compiled once from its documents, then only run. */
export interface Path {
  /** Reads a partner's list. */
  readonly shaper: Shaper;
  /** Reads the answer for one reservation: like the list, unless the connector says otherwise. */
  readonly singleShaper: Shaper;
  /** Reads a partner's event: like the list, with the changes of the connector's push section. */
  readonly pushShaper: Shaper;
  prepare(raw: RawRecord, arrival: Arrival, adjust?: Adjust): Prepared;
  /** The records of a pulled page. */
  preparePage(raws: readonly RawRecord[], arrivalOf: (raw: RawRecord) => Arrival): Prepared[];
  /** Reads a guest event, or the guest that the partner was asked for. */
  guest(data: Json, isFetched?: boolean): GuestRead;
  /** Applies the rules to a profile that a guest event changes. */
  profile(merged: Guest, update: GuestUpdate): RuledGuest;
  /** For a stored reservation of which a message changes some fields. */
  amend(amendment: Amendment, arrival: Arrival): Message;
  /** Reads a date outside of records, as the connector says that dates are written. */
  readonly night: DateReader;
}

/** The spellings that hold for all connectors. */
export type Spellings = NonNullable<Bodies['workspace']['spellings']>;

export interface PathProblem {
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
  const config: ShapeConfig = { shape, map, values, spellings, timezone, unknownStatus };
  const pull = compileShape(config);
  const singleMap = connector.pull?.single?.map;
  return {
    pull,
    push: compilePushShape(config, connector.push?.map),
    single: singleMap === undefined ? pull : compileSingleShape(config, singleMap),
  };
}

export function compilePath(
  connector: Connector,
  integration: Integration,
  shapes: Shapes = compileShapes(connector, integration.timezone),
): { kind: 'ok'; path: Path } | { kind: 'invalid'; problems: PathProblem[] } {
  const { pull, push, single } = shapes;
  const about = {
    integration: integration.integration,
    brand_id: integration.brand_id,
    ...(integration.country !== undefined && { country: integration.country }),
  };
  const rules = compileRules(integration.transforms, about, connector.transforms);
  if (pull.kind === 'ok' && push.kind === 'ok' && single.kind === 'ok' && rules.kind === 'ok') {
    const shapers = { pull: pull.shaper, push: push.shaper, single: single.shaper };
    return { kind: 'ok', path: pathOf(connector, integration, shapers, rules.rules) };
  }
  const problems: PathProblem[] = shapeProblems(shapes).map((problem) => ({ document: 'connector', ...problem }));
  if (rules.kind === 'invalid') problems.push(...rules.problems);
  return { kind: 'invalid', problems };
}

function pathOf(
  connector: Connector,
  integration: Integration,
  shapers: { readonly [Mode in Arrival['mode']]: Shaper },
  rules: RuleSet,
): Path {
  const region = { country: integration.country };
  const shared = {
    rules,
    region,
    isOnlySource: !integration.push.enabled,
    idPrefix: integration.id_prefix,
    partialRows: connector.shape?.also?.some(({ partial }) => partial === true) === true,
  };
  const dates = compileDates(asList(connector.shape?.dates ?? 'iso'), integration.timezone);
  const { absent = 'keep', lists = 'replace' } = connector.push ?? {};
  const steps: { readonly [Mode in Arrival['mode']]: Steps } = {
    pull: { ...shared, shaper: shapers.pull, manner: { silence: 'clear', lists: 'replace' } },
    single: { ...shared, shaper: shapers.single, manner: { silence: 'keep', lists: 'replace' } },
    push: { ...shared, shaper: shapers.push, manner: { silence: absent, lists } },
  };
  return {
    shaper: shapers.pull,
    singleShaper: shapers.single,
    pushShaper: shapers.push,
    prepare: (raw, arrival, adjust) => prepareRecord(steps[arrival.mode], raw, arrival, adjust),
    preparePage: (raws, arrivalOf) => raws.map((raw) => prepareRecord(steps.pull, raw, arrivalOf(raw), undefined)),
    guest: (data, isFetched) =>
      readGuest(isFetched ? shapers.single : shapers.push, region, integration.id_prefix, data),
    profile: (merged, update) => ruleProfile(shared, merged, update),
    amend: (amendment, arrival) => amend(steps[arrival.mode], amendment, arrival),
    night: (value) => (dates.kind === 'ok' ? dates.read(value) : undefined),
  };
}

/** The mistakes of a connector that no integration uses yet. */
export function connectorProblems(connector: Connector): MappingProblem[] {
  const rules = compileRules([], {}, connector.transforms);
  return [
    ...shapeProblems(compileShapes(connector, 'UTC')),
    ...(rules.kind === 'invalid' ? rules.problems.map(({ document: _, ...problem }) => problem) : []),
  ];
}

/**
 * Events and single answers use the connector's map unless they have their own, so its mistakes appear in each; they are reported
 * once.
 */
function shapeProblems({ pull, push, single }: Shapes): MappingProblem[] {
  const found = new Map<string, MappingProblem>();
  for (const shape of [pull, push, single]) {
    for (const problem of shape.kind === 'ok' ? [] : shape.problems) {
      const own = problem.path.startsWith('push.') || problem.path.startsWith('pull.');
      if (own || found.size === 0 || shape === pull) found.set(`${problem.path} ${problem.message}`, problem);
    }
  }
  return [...found.values()];
}
