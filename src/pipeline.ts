import { type ReservationDraft, toGuest, toParts, toReservation } from './canonical/check.ts';
import { describeProblems, type Problem } from './canonical/field-check.ts';
import type { Reservation } from './canonical/reservation.ts';
import type { Connector } from './documents/connector.ts';
import type { Integration } from './documents/integration.ts';
import type { ErrorCode } from './errors.ts';
import { type NormalizeContext, normalizeGuest, normalizeReservation } from './normalize/normalize.ts';
import type { GuestUpdate } from './reconcile/guest-update.ts';
import type { Arrival, Finished, Message, Prepared } from './reconcile/incoming.ts';
import { emptiesIn, statementOf, usableIds } from './reconcile/said.ts';
import type { Manner } from './reconcile/statement.ts';
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
  /** Reads a partner's list. */
  readonly shaper: Shaper;
  /** Reads the answer for one reservation: like the list, unless the connector says otherwise. */
  readonly singleShaper: Shaper;
  /** Reads a partner's event: like the list, with the changes of the connector's push section. */
  readonly pushShaper: Shaper;
  prepare(raw: RawRecord, arrival: Arrival, adjust?: Adjust): Prepared;
  /** Reads a guest event. */
  guest(data: Json): GuestRead;
  /** The rest of the path for a reservation that a guest event changed. */
  finish(merged: { readonly [field: string]: Json }, raw: RawRecord, arrival: Arrival): Finished;
}

/** Corrects an event's payload by the type of the event, before the check. */
export type Adjust = (record: Draft['record']) => {
  readonly record: { readonly [field: string]: Json | undefined };
  readonly notes: readonly Note[];
};

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

export function compileShapes(connector: Connector, timezone: string): Shapes {
  const config = shapeConfig(connector, timezone);
  const pull = compileShape(config);
  return { pull, push: compilePushShape(config, connector.push?.map), single: compileSingle(connector, config, pull) };
}

export function compilePath(
  connector: Connector,
  integration: Integration,
  { pull, push, single }: Shapes = compileShapes(connector, integration.timezone),
): { kind: 'ok'; path: Path } | { kind: 'invalid'; problems: PathProblem[] } {
  const about = {
    integration: integration.integration,
    brand_id: integration.brand_id,
    ...(integration.country !== undefined && { country: integration.country }),
  };
  const rules = compileRules(integration.transforms, about, connector.transforms);
  if (pull.kind === 'ok' && push.kind === 'ok' && single.kind === 'ok' && rules.kind === 'ok') {
    const region = { country: integration.country };
    const isOnlySource = !integration.push.enabled;
    const partialRows = connector.shape?.also?.some(({ partial }) => partial === true) === true;
    const stepsOf = (shaper: Shaper, manner: Manner): Steps => ({
      partialRows,
      shaper,
      rules: rules.rules,
      region,
      manner,
      isOnlySource,
    });
    const steps = {
      pull: stepsOf(pull.shaper, { silence: 'clear', lists: 'replace' }),
      single: stepsOf(single.shaper, { silence: 'keep', lists: 'replace' }),
      push: stepsOf(push.shaper, {
        silence: connector.push?.absent ?? 'keep',
        lists: connector.push?.lists ?? 'replace',
      }),
    };
    const path: Path = {
      shaper: pull.shaper,
      singleShaper: single.shaper,
      pushShaper: push.shaper,
      prepare: (raw, arrival, adjust) => prepareRecord(steps[arrival.mode], raw, arrival, adjust),
      guest: (data) => readGuest(push.shaper, region, data),
      finish: (merged, raw, arrival) => finish(steps[arrival.mode], { record: merged }, raw, arrival).finished,
    };
    return { kind: 'ok', path };
  }
  const problems: PathProblem[] = [];
  problems.push(
    ...shapeProblems(pull, push, single).map((problem) => ({ document: 'connector' as const, ...problem })),
  );
  if (rules.kind === 'invalid') {
    problems.push(...rules.problems);
  }
  return { kind: 'invalid', problems };
}

/** The compiled parts of one integration's path. */
interface Steps {
  readonly shaper: Shaper;
  readonly rules: RuleSet;
  readonly region: NormalizeContext;
  readonly manner: Manner;
  readonly isOnlySource: boolean;
  /** Pulled rows may be incomplete, such as bare cancellations; they then change a stored record. */
  readonly partialRows: boolean;
}

/**
 * The path of a reservation. Nothing in it waits, writes or throws; every result is a value.
 *
 *   shape ─▶ check ─▶ normalize     makes a statement of the message
 *   merge                           with other messages' statements, in the store, under the reservation's lock
 *   check ─▶ normalize ─▶ rules     the merged record
 *
 * For the first message of a reservation, and for pulled rows of a brand without other sources, the statement is the whole record: it is
 * finished here, outside any transaction. A message without dates or status is a dead letter by itself, but may be complete once merged.
 */
function prepareRecord(steps: Steps, raw: RawRecord, arrival: Arrival, adjust: Adjust | undefined): Prepared {
  const { shaper } = steps;
  const draft = shaper.draft(raw);
  const adjusted = adjust?.(draft.record);
  const record = adjusted?.record ?? draft.record;
  const notes = adjusted === undefined ? draft.notes : joined(draft.notes, adjusted.notes);
  const sent = { record: record as ReservationDraft, strict: draft.strict };
  const alone = finish(steps, sent, raw, arrival);
  const isPartial = arrival.mode === 'pull' && steps.partialRows && alone.said === undefined;
  const said = alone.said ?? (arrival.mode === 'pull' && !isPartial ? undefined : partsOf(steps, sent));
  const id = said?.record.id ?? raw.key;
  const message: Message | undefined = said && {
    id,
    // Not part of the list's view, so that the fields it omits are not cleared.
    source: isPartial ? 'single' : arrival.mode,
    manner: isPartial ? { silence: 'keep', lists: 'replace' } : steps.manner,
    isOnlySource: steps.isOnlySource && !isPartial,
    isVerbatim: draft.assumed === undefined,
    says: () => statementOf(said.record, record, draft.assumed, shaper.itemIds(raw)),
    itemIds: () => usableIds(said.record, record, shaper.itemIds(raw)),
    empties: () => emptiesIn(said.record, record),
    finish: (merged) => finish(steps, { record: merged }, raw, arrival).finished,
    raw: raw.value,
    notes: joined(notes, said.notes),
    origins: () => shaper.origins(raw),
    retraceable: isRetraceable(raw, arrival),
    drift: draft.drift,
  };
  const mergeable = message && { message };
  const { finished } = alone;
  if (finished.kind === 'dead') {
    const isPart = mergeable && alone.said === undefined && (arrival.mode === 'push' || raw.partial === true);
    return { kind: 'dead', arrival, deadLetter: finished.deadLetter, ...mergeable, ...(isPart && { isPart }) };
  }
  if (finished.kind === 'dropped') {
    return { kind: 'dropped', arrival, id, reason: finished.reason, raw: raw.value, ...mergeable };
  }
  return {
    kind: 'record',
    arrival,
    incoming: {
      type: 'reservation',
      id: finished.record.id,
      record: finished.record,
      raw: raw.value,
      notes: joined(message?.notes ?? notes, finished.notes),
      origins: () => shaper.origins(raw),
      retraceable: isRetraceable(raw, arrival),
      drift: draft.drift,
    },
    isRuled: finished.isRuled,
    ...mergeable,
  };
}

type Sent = Parameters<typeof toReservation>[0];

interface Said {
  readonly record: Partial<Reservation>;
  readonly notes: readonly Note[];
}

/** Check, normalize, rules. `said` is the record before the rules; absent if it did not pass the check. */
function finish(
  { shaper, rules, region }: Steps,
  draft: Sent,
  raw: RawRecord,
  arrival: Arrival,
): { readonly finished: Finished; readonly said?: Said } {
  const failed = (broken: Broken, id?: string) => dead(arrival, shaper.selfContained(raw), broken, id);
  const checked = toReservation(draft);
  if (checked.kind === 'invalid') return { finished: failed(checked) };
  const clean = normalizeReservation(checked.reservation, region);
  const said = { record: clean.reservation, notes: joined(checked.notes, clean.notes) };
  const { id } = checked.reservation;
  const ruled = rules.apply(clean.reservation);
  if (ruled.kind === 'dropped') return { finished: { kind: 'dropped', reason: ruled.note }, said };
  if (ruled.kind === 'failed') {
    const { code, rule, message } = ruled;
    const problems = [{ field: rule, rule: message }];
    return { finished: failed({ code, problems, message }, id), said };
  }
  if (!ruled.changed) {
    return { finished: { kind: 'record', record: clean.reservation, notes: ruled.notes, isRuled: false }, said };
  }
  // Values from rules are checked and cleaned like values from partners.
  const again = toReservation({ record: ruled.record as ReservationDraft }, clean.reservation);
  if (again.kind === 'invalid') return { finished: failed(again, id), said };
  const cleanAgain = normalizeReservation(again.reservation, region, clean.reservation);
  const notes = joined(joined(ruled.notes, again.notes), cleanAgain.notes);
  return { finished: { kind: 'record', record: cleanAgain.reservation, notes, isRuled: true }, said };
}

/** The statement of a message that is not a complete record; undefined if one of its fields breaks a rule. */
function partsOf({ region }: Steps, draft: Sent): Said | undefined {
  const parts = toParts(draft);
  if (parts.kind === 'invalid' || parts.reservation.id === undefined) return undefined;
  const clean = normalizeReservation(parts.reservation as Reservation, region);
  return { record: clean.reservation, notes: joined(parts.notes, clean.notes) };
}

/** The content of a guest event, or the rule that it breaks. */
export type GuestRead =
  | { readonly kind: 'ok'; readonly update: GuestUpdate; readonly notes: readonly Note[] }
  | { readonly kind: 'invalid'; readonly code: ErrorCode; readonly message: string; readonly detail: Json };

/**
 * The path of a guest event.
 *
 *   shape ─▶ check ─▶ normalize     reads the guest from the event
 *   match                           the profile, by the guest's keys and by the reservation that the event names
 *   merge                           the profile, and the guest in each upcoming or in-house reservation
 *   check ─▶ normalize ─▶ rules     each of these reservations
 */
function readGuest(shaper: Shaper, region: NormalizeContext, data: Json): GuestRead {
  const draft = shaper.guestDraft(data);
  const checked = toGuest(draft);
  if (checked.kind === 'invalid') {
    const { code, problems } = checked;
    const detail = { problems: problems.map((one) => ({ ...one })) };
    return { kind: 'invalid', code, message: describeProblems(problems), detail };
  }
  const { guest, notes } = normalizeGuest(checked.guest, region);
  const present = draft.guestId === undefined ? draft.present : new Set([...draft.present, 'guest_id']);
  const { reservationId } = draft;
  return {
    kind: 'ok',
    update: { guest, present, ...(reservationId !== undefined && { reservationId }) },
    notes: [...draft.notes, ...checked.notes, ...notes],
  };
}

/** Concatenates; usually one of the lists is empty, and no copy is made. */
function joined(some: readonly Note[], more: readonly Note[]): readonly Note[] {
  return more.length === 0 ? some : some.length === 0 ? more : [...some, ...more];
}

const isRetraceable = (raw: RawRecord, arrival: Arrival): boolean =>
  arrival.cause !== 'replay' && arrival.cause !== 'reprocess' && isAlone(raw);

/** The mapping read nothing outside the record. */
const isAlone = ({ place, around, body }: RawRecord): boolean =>
  place === undefined && around === undefined && body === undefined;

interface Broken {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  readonly message?: string;
}

function dead(arrival: Arrival, raw: RawRecord, { code, problems, message }: Broken, id = raw.key): Finished {
  return {
    kind: 'dead',
    deadLetter: {
      kind: arrival.cause === 'event' ? 'event' : 'record',
      type: 'reservation',
      ...(id !== '' && { id }),
      code,
      message: message ?? describeProblems(problems),
      detail: { problems: problems.map((problem) => ({ ...problem })) },
      // Includes the surrounding data that a replay needs if the mapping reads outside the record.
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
  const { pull, push, single } = compileShapes(connector, 'UTC');
  const rules = compileRules([], {}, connector.transforms);
  return [
    ...shapeProblems(pull, push, single),
    ...(rules.kind === 'invalid' ? rules.problems.map(({ document: _, ...problem }) => problem) : []),
  ];
}

function compileSingle(connector: Connector, config: ShapeConfig, pull: CompiledShape): CompiledShape {
  const map = connector.pull?.single?.map;
  return map === undefined ? pull : compileSingleShape(config, map);
}

/**
 * Events and single answers use the connector's map unless they have their own, so its mistakes appear in each; they are reported
 * once.
 */
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
