import { type ReservationDraft, toReservation } from './canonical/check.ts';
import { describeProblems, type Problem } from './canonical/field-check.ts';
import type { Reservation } from './canonical/reservation.ts';
import type { Connector } from './documents/connector.ts';
import type { Integration } from './documents/integration.ts';
import type { ErrorCode } from './errors.ts';
import { type NormalizeContext, normalizeReservation } from './normalize/normalize.ts';
import type { Arrival, Prepared } from './reconcile/incoming.ts';
import type { MappingProblem, RawRecord, ShapeConfig } from './shape/config.ts';
import {
  type CompiledShape,
  compilePushShape,
  compileShape,
  compileSingleShape,
  type Draft,
  type Shaper,
} from './shape/shape.ts';
import type { Json, Note } from './terms.ts';
import { compileRules, type RuleSet } from './transform/rules.ts';

/** The path of every record, for one integration: compiled once from its documents, then only run. */
export interface Path {
  /** What a partner's list holds. */
  readonly shaper: Shaper;
  /** What a partner answers for one reservation: as in its list, unless the connector says otherwise. */
  readonly singleShaper: Shaper;
  /** What a partner's event holds: the same, but for what the connector's push section says. */
  readonly pushShaper: Shaper;
  prepare(raw: RawRecord, arrival: Arrival, complete?: Complete): Prepared;
}

/** Fills in what an event leaves open, before the record is checked: it is told which top-level fields were sent at all. */
export type Complete = (
  record: Draft['record'],
  present: ReadonlySet<string>,
) => { readonly record: { readonly [field: string]: Json | undefined }; readonly notes: readonly Note[] };

export interface PathProblem {
  readonly document: 'connector' | 'integration';
  /** Inside the document, such as map.guests.fields.email. */
  readonly path: string;
  readonly message: string;
  /** The character inside the text that stands there. */
  readonly offset?: number;
}

export function compilePath(
  connector: Connector,
  integration: Integration,
): { kind: 'ok'; path: Path } | { kind: 'invalid'; problems: PathProblem[] } {
  const config = shapeConfig(connector, integration.timezone);
  const pull = compileShape(config);
  const push = compilePushShape(config, connector.push?.map);
  const single = compileSingle(connector, config, pull);
  const rules = compileRules(integration.transforms, {
    integration: integration.integration,
    brand_id: integration.brand_id,
    ...(integration.country !== undefined && { country: integration.country }),
  });
  if (pull.kind === 'ok' && push.kind === 'ok' && single.kind === 'ok' && rules.kind === 'ok') {
    const shapers = { pull: pull.shaper, single: single.shaper, push: push.shaper };
    const region = { country: integration.country };
    const prepare = (raw: RawRecord, arrival: Arrival, complete?: Complete) =>
      prepareRecord(shapers[arrival.mode], rules.rules, region, raw, arrival, complete);
    const path = { shaper: pull.shaper, singleShaper: single.shaper, pushShaper: push.shaper, prepare };
    return { kind: 'ok', path };
  }
  const problems: PathProblem[] = [];
  problems.push(
    ...shapeProblems(pull, push, single).map((problem) => ({ document: 'connector' as const, ...problem })),
  );
  if (rules.kind === 'invalid') {
    problems.push(...rules.problems.map((problem) => ({ document: 'integration' as const, ...problem })));
  }
  return { kind: 'invalid', problems };
}

/** The path. Nothing in it waits, writes or throws; every way out is a value. */
function prepareRecord(
  shaper: Shaper,
  rules: RuleSet,
  region: NormalizeContext,
  raw: RawRecord,
  arrival: Arrival,
  complete: Complete | undefined,
): Prepared {
  const draft = shaper.draft(raw);
  const whole = complete?.(draft.record, sentIn(draft));
  const checked = toReservation(whole === undefined ? draft : { ...whole, strict: draft.strict });
  if (checked.kind === 'invalid') return dead(arrival, shaper.selfContained(raw), checked);
  const clean = normalizeReservation(checked.reservation, region);
  const ruled = rules.apply(clean.reservation);
  if (ruled.kind === 'dropped') {
    return { kind: 'dropped', arrival, id: checked.reservation.id, reason: ruled.note, raw: raw.value };
  }
  if (ruled.kind === 'failed') {
    const { code, rule, message } = ruled;
    const problems = [{ field: `transforms[${rule}]`, rule: message }];
    return dead(arrival, shaper.selfContained(raw), { code, problems, message }, checked.reservation.id);
  }
  const shaped = whole === undefined ? draft.notes : joined(draft.notes, whole.notes);
  let notes = joined(joined(shaped, checked.notes), joined(clean.notes, ruled.notes));
  let record: Reservation = clean.reservation;
  if (ruled.changed) {
    // What a rule wrote is checked and cleaned like what a partner wrote.
    const again = toReservation({ record: ruled.record as ReservationDraft }, clean.reservation);
    if (again.kind === 'invalid') return dead(arrival, shaper.selfContained(raw), again, checked.reservation.id);
    const cleanAgain = normalizeReservation(again.reservation, region, clean.reservation);
    record = cleanAgain.reservation;
    notes = joined(joined(notes, again.notes), cleanAgain.notes);
  }
  return {
    kind: 'record',
    arrival,
    incoming: {
      type: 'reservation',
      id: record.id,
      record,
      raw: raw.value,
      notes,
      origins: () => shaper.origins(raw),
      retraceable: arrival.cause !== 'replay' && isAlone(raw),
      drift: draft.drift,
    },
  };
}

/** The top-level fields that the partner sent, be it empty. */
function sentIn({ record, assumed }: Draft): ReadonlySet<string> {
  const sent = Object.entries(record).filter(([field, value]) => value !== undefined && assumed?.has(field) !== true);
  return new Set(sent.map(([field]) => field));
}

/** One after the other, without a copy where one is empty, as most are. */
function joined(some: readonly Note[], more: readonly Note[]): readonly Note[] {
  return more.length === 0 ? some : some.length === 0 ? more : [...some, ...more];
}

/** Nothing around the record was looked at to read it. */
const isAlone = ({ place, around, body }: RawRecord): boolean =>
  place === undefined && around === undefined && body === undefined;

function dead(
  arrival: Arrival,
  raw: RawRecord,
  broken: { readonly code: ErrorCode; readonly problems: readonly Problem[]; readonly message?: string },
  id = raw.key,
): Prepared {
  const { code, problems } = broken;
  return {
    kind: 'dead',
    arrival,
    deadLetter: {
      kind: arrival.cause === 'event' ? 'event' : 'record',
      type: 'reservation',
      ...(id !== '' && { id }),
      code,
      message: broken.message ?? describeProblems(problems),
      detail: { problems: problems.map((problem) => ({ ...problem })) },
      // What a replay needs besides the record itself, where the mapping looks around it.
      raw: { ...raw } as unknown as Json,
    },
  };
}

function shapeConfig(connector: Connector, timezone: string): ShapeConfig {
  const { shape, map, values, unknown_status: unknownStatus } = connector;
  return { shape, map, values, timezone, unknownStatus };
}

/** The mistakes of a connector that no integration uses yet. */
export function connectorProblems(connector: Connector): MappingProblem[] {
  const config = shapeConfig(connector, 'UTC');
  const pull = compileShape(config);
  const push = compilePushShape(config, connector.push?.map);
  return shapeProblems(pull, push, compileSingle(connector, config, pull));
}

function compileSingle(connector: Connector, config: ShapeConfig, pull: CompiledShape): CompiledShape {
  const map = connector.pull?.single?.map;
  return map === undefined ? pull : compileSingleShape(config, map);
}

/** Events and single answers are read by the same map where they say nothing of their own, so its mistakes show in each; they are told once. */
function shapeProblems(...shapes: readonly CompiledShape[]): MappingProblem[] {
  const found = new Map<string, MappingProblem>();
  for (const shape of shapes) {
    for (const problem of shape.kind === 'ok' ? [] : shape.problems) {
      const own = problem.path.startsWith('push.') || problem.path.startsWith('pull.');
      if (own || found.size === 0 || shape === shapes[0]) found.set(`${problem.path} ${problem.message}`, problem);
    }
  }
  return [...found.values()];
}
