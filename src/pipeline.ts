import { type ReservationDraft, toParts, toReservation } from './canonical/check.ts';
import type { Reservation } from './canonical/reservation.ts';
import { type NormalizeContext, normalizeReservation } from './normalize/normalize.ts';
import { type Broken, dead, isRequestedById } from './pipeline/dead-letter.ts';
import { idOf, prefixed } from './pipeline/id-prefix.ts';
import type { Amendment, Arrival, Finished, Message, Prepared } from './reconcile/incoming.ts';
import type { Manner } from './reconcile/statement.ts';
import { emptiesIn, statementOf, unreadIn, usableIds } from './reconcile/statement-of.ts';
import type { RawRecord } from './shape/config.ts';
import type { Adjust, Draft, Shaper } from './shape/shaper.ts';
import type { Note } from './terms.ts';
import type { RuleSet } from './transform/rules.ts';

/** The compiled parts of one integration's path, for one way of arrival. */
export interface Steps {
  readonly shaper: Shaper;
  readonly rules: RuleSet;
  readonly region: NormalizeContext;
  readonly manner: Manner;
  readonly isOnlySource: boolean;
  /** Precedes the partner's ids, for a brand that moved here from another system. */
  readonly idPrefix: string | undefined;
  /** Pulled rows may be incomplete, such as bare cancellations; they then change a stored record. */
  readonly partialRows: boolean;
}

/**
 * The path of a reservation; pipeline/guest.ts states that of a guest. Nothing in it waits, writes or throws; every result is a value.
 *
 *   shape ─▶ check ─▶ normalize     makes a statement of the message
 *   merge                           with other messages' statements, in the store, under the reservation's lock
 *   check ─▶ normalize ─▶ rules     the merged record
 *
 * For the first message of a reservation, and for pulled rows of a brand without other sources, the statement is the whole record: it is
 * finished here, outside any transaction. A message without dates or status is a dead letter by itself, but may be complete once merged.
 */
export function prepareRecord(steps: Steps, raw: RawRecord, arrival: Arrival, adjust: Adjust | undefined): Prepared {
  const draft = adjusted(prefixed(steps.shaper.draft(raw), steps.idPrefix), adjust);
  const clean = cleaned(steps, draft);
  const { shaper } = steps;
  const { record } = draft;
  const notes = isRequestedById(arrival) ? joined(requestedById, draft.notes) : draft.notes;
  const sent = draft as Sent;
  const whole = clean.kind === 'ok' ? clean.said : undefined;
  const isPartialRow = arrival.mode === 'pull' && steps.partialRows && whole === undefined;
  const { isExcluded = false } = draft;
  const said = whole ?? (arrival.mode === 'pull' && !isPartialRow && !isExcluded ? undefined : partsOf(steps, sent));
  const id = said?.record.id ?? idOf(raw.key, steps.idPrefix);
  const notesOfMessage = joined(notes, said?.notes ?? []);
  const unread = unreadIn(notesOfMessage, record);
  const message: Message | undefined = said && {
    id,
    // Not part of the list's view, so that the fields it omits are not cleared.
    source: isPartialRow ? 'single' : arrival.mode,
    manner: isPartialRow ? { silence: 'keep', lists: 'replace' } : steps.manner,
    isOnlySource: steps.isOnlySource && !isPartialRow,
    isVerbatim: draft.assumed === undefined,
    says: () => statementOf(said.record, record, draft.assumed, shaper.itemIds(raw), unread),
    itemIds: () => usableIds(said.record, record, shaper.itemIds(raw)),
    empties: () => emptiesIn(said.record, record, unread),
    unread,
    finish: (merged) => (isExcluded ? excluded : finish(steps, merged, raw, arrival)),
    raw: raw.value,
    notes: notesOfMessage,
    origins: () => shaper.origins(raw),
    retraceable: isRetraceable(raw, arrival),
    drift: draft.drift,
  };
  const mergeable = message && { message };
  const finished = isExcluded ? excluded : ruled(steps, clean, raw, arrival);
  if (finished.kind === 'dead') {
    const isPart = mergeable && whole === undefined && (arrival.mode === 'push' || raw.partial === true);
    const guests = () =>
      partsOf(steps, { record: { id: idOf(raw.key, steps.idPrefix), guests: sent.record.guests } })?.record.guests ??
      [];
    const content = mergeable ?? { guests };
    return { kind: 'dead', arrival, deadLetter: finished.deadLetter, ...content, ...(isPart && { isPart }) };
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

function adjusted(draft: Draft, adjust: Adjust | undefined): Draft {
  if (adjust === undefined) return draft;
  const { record, notes } = adjust(draft.record);
  return { ...draft, record, notes: joined(draft.notes, notes) };
}

type Sent = Parameters<typeof toReservation>[0];

interface Said {
  readonly record: Partial<Reservation>;
  readonly notes: readonly Note[];
}

type Cleaned =
  /** The record before the rules. */
  | { readonly kind: 'ok'; readonly said: Said & { readonly record: Reservation } }
  | Extract<ReturnType<typeof toReservation>, { kind: 'invalid' }>;

const excluded = { kind: 'dropped', reason: 'The condition map.where of the connector does not hold.' } as const;

/** By this note the store tells such a payload from a row of a list: another mapping reads it, and fields that it omits are not cleared. */
const requestedById: readonly Note[] = [
  {
    step: 'shape',
    field: '',
    code: 'requested_by_id',
    reason: 'The partner was asked for this reservation by its id.',
  },
];

/** Check, normalize. */
function cleaned({ region }: Steps, draft: Sent): Cleaned {
  const checked = toReservation(draft);
  if (checked.kind === 'invalid') return checked;
  const { reservation: record, notes } = normalizeReservation(checked.reservation, region);
  return { kind: 'ok', said: { record, notes: joined(checked.notes, notes) } };
}

function ruled({ shaper, rules, region, idPrefix }: Steps, clean: Cleaned, raw: RawRecord, arrival: Arrival): Finished {
  const failed = (broken: Broken, id = idOf(raw.key, idPrefix)) => dead(arrival, shaper.selfContained(raw), broken, id);
  if (clean.kind === 'invalid') return failed(clean);
  const { record } = clean.said;
  const applied = rules.apply(record);
  if (applied.kind === 'dropped') return { kind: 'dropped', reason: applied.note };
  if (applied.kind === 'failed') {
    const { code, rule, message } = applied;
    return failed({ code, problems: [{ field: rule, rule: message }], message }, record.id);
  }
  if (!applied.changed) return { kind: 'record', record, notes: applied.notes, isRuled: false };
  // Values from rules are checked and cleaned like values from partners.
  const again = toReservation({ record: applied.record as ReservationDraft });
  if (again.kind === 'invalid') return failed(again, record.id);
  const cleanAgain = normalizeReservation(again.reservation, region);
  const notes = joined(joined(applied.notes, again.notes), cleanAgain.notes);
  return { kind: 'record', record: cleanAgain.reservation, notes, isRuled: true };
}

/** Check, normalize, rules. */
function finish(steps: Steps, merged: Sent['record'], raw: RawRecord, arrival: Arrival): Finished {
  return ruled(steps, cleaned(steps, { record: merged }), raw, arrival);
}

/** The statement of a message that is not a complete record; undefined if one of its fields breaks a rule. */
function partsOf({ region }: Steps, draft: Sent): Said | undefined {
  const parts = toParts(draft);
  if (parts.kind === 'invalid' || parts.reservation.id === undefined) return undefined;
  const clean = normalizeReservation(parts.reservation as Reservation, region);
  return { record: clean.reservation, notes: joined(parts.notes, clean.notes) };
}

/** A message that changes some fields of a stored reservation. */
export function amend(steps: Steps, { says, sent, ...said }: Amendment, arrival: Arrival): Message {
  return {
    ...said,
    source: arrival.by ?? arrival.mode,
    manner: { silence: 'keep', lists: 'merge' },
    isOnlySource: false,
    isVerbatim: true,
    says: () => says,
    itemIds: () => undefined,
    empties: () => [],
    unread: new Set(),
    finish: (merged) => finish(steps, merged, { key: said.id, value: sent }, arrival),
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
