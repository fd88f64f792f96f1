import type { Path } from './brand/compile.ts';
import { type ReservationDraft, toParts, toReservation } from './canonical/check.ts';
import { noteOf } from './canonical/notes.ts';
import { decodeRecord, type Guest, type Reservation, recordText } from './canonical/reservation.ts';
import { parseJson } from './kit/json.ts';
import { normalizeReservation } from './normalize/normalize.ts';
import { idOf, prefixed } from './pipeline/id-prefix.ts';
import { decideProfile } from './reconcile/decide-profile.ts';
import { difference } from './reconcile/difference.ts';
import {
  type Arrival,
  changeAfter,
  type DeadLetter,
  type Decision,
  deadLetter,
  isRequestedById,
  letterOf,
  newerIsStored,
  type Statement,
  type Stored,
} from './reconcile/forms.ts';
import { asLastShown, type Heard, type HeldPath, hear, isOfList, isOverruled, momentOf } from './reconcile/hear.ts';
import { type Giver, merge, type Views } from './reconcile/merge.ts';
import { consentNotes, keptNotes } from './reconcile/merge-notes.ts';
import { isNewer, type Moment, type Says, saysOf, unreadIn } from './reconcile/says.ts';
import { readViews, soleIn, storedViews } from './reconcile/stored-views.ts';
import { repeated } from './reconcile/view.ts';
import type { RawRecord } from './shape/config.ts';
import type { Adjust, Draft } from './shape/draft.ts';
import type { Json, Note } from './terms.ts';

/**
 * The path of a reservation; pipeline/guest.ts states that of a guest. Nothing in it waits, writes or throws; every result is a value.
 *
 *   state     shape ─▶ check ─▶ normalize                         what a message says
 *   decide    hear ─▶ merge ─▶ check ─▶ normalize ─▶ rules        what it changes, while the record is locked
 */

/** What a payload says about its reservation. `adjust` corrects the draft by what the event itself says, before the check. */
export function state(brand: Path, raw: RawRecord, arrival: Arrival, adjust?: Adjust): Statement {
  const shaper = brand.shapers[arrival.mode];
  const draft = adjusted(prefixed(shaper.draft(raw), brand.idPrefix), adjust);
  const { isExcluded = false } = draft;
  const checked = toReservation(draft as Unchecked);
  const whole = checked.kind === 'ok' ? cleaned(brand, checked.reservation, checked.notes) : undefined;
  const isPulled = arrival.mode === 'pull';
  const isPartialRow = isPulled && brand.partialRows && whole === undefined;
  const isStatusUnknown = checked.kind === 'invalid' && checked.code === 'record.unknown_status';
  // A row of a list that breaks a rule says nothing. An event may be a part of a reservation; other sources may have said the rest.
  const isUnusable = isPulled && !isPartialRow && !isExcluded && !isStatusUnknown;
  const said = whole ?? (isUnusable ? undefined : partsOf(brand, isStatusUnknown ? withOtherStatus(draft) : draft));
  const id = said?.record.id ?? idOf(raw.key, brand.idPrefix);
  const notes = [...(isRequestedById(arrival) ? requestedById : []), ...draft.notes, ...(said?.notes ?? [])];
  const unread = unreadIn(notes, draft.record);
  const failure =
    isExcluded || checked.kind === 'ok'
      ? undefined
      : deadLetter(arrival, shaper.selfContained(raw), checked, idOf(raw.key, brand.idPrefix));
  const isPart = failure && said && !isStatusUnknown && (arrival.mode === 'push' || raw.partial === true);
  return {
    type: 'reservation',
    id,
    arrival,
    // A partial row is not part of the list's view, so that the fields it omits are not cleared.
    source: isPartialRow ? 'single' : arrival.mode,
    manner: isPartialRow ? { silence: 'keep', lists: 'replace' } : brand.manners[arrival.mode],
    says: said && saysOf(said.record, draft.record, draft.assumed, shaper.itemIds(raw), unread),
    record: whole?.record as Reservation | undefined,
    ...(failure && { failure }),
    ...(isPart && { isPart }),
    ...(isExcluded && { dropped: excluded }),
    ...(failure && !said && { guests: guestsIn(brand, draft) }),
    raw,
    notes,
    drift: draft.drift,
  };
}

/**
 * What a statement changes. A record is the merge of what its sources say, each with its newest statement of every field:
 * of two statements about a field the one with the later effective time wins, of two with the same time the later in sequence
 * (reconcile/merge.ts). So a late event does not overwrite what a newer pull says, and every order of arrival ends in the same state.
 */
export function decide(
  brand: Path,
  stored: Stored | undefined,
  arrived: Statement,
  held: readonly (HeldPath & { readonly reason: string })[] = [],
): Decision {
  const isNew = stored === undefined || stored.version === 0;
  const isIncomplete = isNew && arrived.failure !== undefined;
  if (arrived.type === 'guest') return isIncomplete ? refused(arrived) : decideProfile(stored, arrived);
  if (!isReadable(arrived, held) || isIncomplete) return refused(arrived);
  const before = isNew ? undefined : decodeRecord('reservation', stored.text);
  const known = knownViews(stored, before, brand.lagMs);
  const statement = asLastShown(arrived, known);
  const heard = hear(known, stored?.views?.aside ?? [], statement, held, brand.lagMs);
  const { views, aside, isRepeated, isHeld } = heard;
  const moment = momentOf(statement.arrival);
  const version = stored?.version ?? 0;
  const reason = held.map((one) => one.reason).join(' ');
  if (Object.keys(views).length === 0) {
    return { kind: 'held', version, reason, state: { moment, views: { aside } }, isHeld, isOverruled: true };
  }
  const { draft, givers } = mergedOf(heard, statement);
  const finished = finish(brand, statement, draft);
  if (finished.kind === 'dead') return finished;
  const newest = stored && isNewer(stored.moment, moment) ? stored.moment : moment;
  const overruled = !isNew && isOverruled(known, heard, statement);
  const marks = { ...((overruled || isHeld) && { isOverruled: true }), ...(isHeld && { isHeld }) };
  if (finished.kind === 'dropped') {
    if (stored === undefined || before === undefined) return finished;
    return left(stored, before, statement, finished, { moment: newest, views: storedViews(views, true, aside) });
  }
  const { record } = finished;
  const next = { moment: newest, views: storedViews(views, finished.isRuled, aside) };
  const text = recordText(record);
  const diff = isNew || text === stored?.text ? [] : difference(parseJson(stored?.text ?? ''), parseJson(text));
  if (!isNew && stored.event !== 'removed' && diff.length === 0) {
    const kind = isHeld ? 'held' : overruled ? 'superseded' : 'unchanged';
    const why = isHeld ? reason : overruled ? overruledBecause(stored, moment, brand) : undefined;
    return {
      kind,
      version,
      ...(why !== undefined && { reason: why }),
      ...(!isSameState(stored, next) && { state: next }),
      ...marks,
      isShown: isRepeated && aside.length === 0 && (stored.views?.aside ?? []).length === 0 && !isNotedAgain(statement),
    };
  }
  return {
    kind: 'change',
    ...changeAfter(before && { version, status: before.status }, record.status),
    record,
    text,
    state: next,
    diff,
    notes: [
      ...statement.notes,
      ...finished.notes,
      // A guest event is about one guest; that the rest of the reservation stays needs no note.
      ...(givers === undefined || isNew || statement.arrival.cause === 'guest'
        ? []
        : keptNotes(givers, statement.source, moment)),
      ...(givers === undefined || isNew ? [] : consentNotes(diff, (path) => givers.get(path))),
      ...held.map(({ path, reason }) => noteOf('held', path, { reason })),
    ],
    ...marks,
  };
}

type Readable = Statement & { readonly says: Says };

/** What each source says. The list also says what a page showed unchanged, which is not written to the record. */
function knownViews(stored: Stored | undefined, before: Reservation | undefined, lagMs: number): Views {
  if (stored === undefined || before === undefined) return {};
  const views = readViews(stored.views, before, stored.moment);
  const { sightedAt } = stored;
  return views.pull && sightedAt !== undefined ? { ...views, pull: repeated(views.pull, sightedAt, lagMs) } : views;
}

/**
 * What the sources say together, and who gave each value. The usual case is one source, and all of it from this statement: then it is the
 * record that the statement makes by itself.
 */
function mergedOf(
  { views, isHeld }: Heard,
  statement: Readable,
): { readonly draft: Reservation | ReservationDraft; readonly givers?: ReadonlyMap<string, Giver> } {
  const sole = isHeld ? undefined : soleIn(views);
  const isAlone = sole !== undefined && sole[1].moment.join() === momentOf(statement.arrival).join();
  const whole = isAlone ? (statement.record as Reservation | undefined) : undefined;
  if (whole !== undefined) return { draft: whole };
  const { draft, givers } = merge(views);
  return { draft: draft as ReservationDraft, givers };
}

/** A status that no value map knows is heard only to be set aside, when nearly all rows have one. */
function isReadable(statement: Statement, held: readonly HeldPath[]): statement is Readable {
  if (statement.says === undefined) return false;
  return statement.failure?.code !== 'record.unknown_status' || held.some(({ path }) => path === 'status');
}

/** The outcome of a statement that makes no record by itself, where none is stored. */
function refused({ dropped, failure, isPart }: Statement): Decision {
  if (dropped !== undefined) return { kind: 'dropped', reason: dropped };
  if (failure === undefined) throw new TypeError('a statement without content');
  return { kind: 'dead', deadLetter: letterOf(failure, isPart) };
}

/** A rule drops the merged record: its destinations get a last version. */
function left(
  stored: Stored,
  record: Reservation,
  { notes }: Statement,
  { reason, ...dropped }: Finished & { readonly kind: 'dropped' },
  state: { readonly moment: Stored['moment']; readonly views: Stored['views'] },
): Decision {
  if (stored.event === 'removed') return { ...dropped, reason, state };
  const note = noteOf('removed', '', { reason });
  const { text } = stored;
  return {
    kind: 'change',
    event: 'removed',
    version: stored.version + 1,
    record,
    text,
    state,
    diff: [],
    notes: [...notes, note],
    ...(dropped.sold && { sold: dropped.sold }),
  };
}

/** A list that repeats its row counts as of `lag` before its request: until then, something else overruled the statement. */
function overruledBecause({ sightedAt }: Stored, moment: Moment, { lagMs }: Path): string {
  if (sightedAt === undefined || !isNewer([sightedAt - lagMs, 0], moment)) return newerIsStored;
  const after = lagMs === 0 ? '' : ` more than ${lagMs / 60_000} minutes later,`;
  return `The partner's list, requested at ${new Date(sightedAt).toISOString()},${after} still showed the stored state.`;
}

/** A value that could not be read is noted, unless its row cannot be recognised the next time: it would be noted at each poll. */
const isNotedAgain = (statement: Readable): boolean =>
  isOfList(statement) && (statement.says.unread?.length ?? 0) > 0 && (statement.listed ?? 1) > 0;

const isSameState = (stored: Stored, { moment, views }: Pick<Stored, 'moment' | 'views'>): boolean =>
  !isNewer(moment, stored.moment) &&
  !isNewer(stored.moment, moment) &&
  JSON.stringify(stored.views) === JSON.stringify(views);

type Finished =
  | {
      readonly kind: 'record';
      readonly record: Reservation;
      /** Of the business rules, and of what normalization found in the merged record. */
      readonly notes: readonly Note[];
      /** A rule changed it: the record is not what the partner said. */
      readonly isRuled: boolean;
    }
  | { readonly kind: 'dropped'; readonly reason: string; readonly sold?: Reservation }
  | { readonly kind: 'dead'; readonly deadLetter: DeadLetter };

/** Check, normalize, rules. A record that the statement makes by itself is checked and normalized already. */
export function finish(brand: Path, statement: Statement, merged: Reservation | ReservationDraft): Finished {
  const failed = (broken: Parameters<typeof deadLetter>[2], id = statement.id): Finished => {
    const raw = brand.shapers[statement.arrival.mode].selfContained(statement.raw);
    return { kind: 'dead', deadLetter: deadLetter(statement.arrival, raw, broken, id) };
  };
  if (statement.dropped !== undefined) return { kind: 'dropped', reason: statement.dropped };
  let [record, notes]: [Reservation, readonly Note[]] = [merged as Reservation, []];
  if (merged !== statement.record) {
    const checked = toReservation({ record: merged });
    if (checked.kind === 'invalid') return failed(checked);
    ({ record, notes } = cleaned(brand, checked.reservation, checked.notes));
  }
  const applied = brand.rules.apply(record);
  if (applied.kind === 'dropped') return { kind: 'dropped', reason: applied.note, sold: record };
  if (applied.kind === 'failed') {
    const { code, rule, message } = applied;
    return failed({ code, problems: [{ field: rule, rule: message }], message }, record.id);
  }
  if (!applied.changed) return { kind: 'record', record, notes: [...notes, ...applied.notes], isRuled: false };
  // Values from rules are checked and cleaned like values from partners.
  const again = toReservation({ record: applied.record as ReservationDraft });
  if (again.kind === 'invalid') return failed(again, record.id);
  const clean = cleaned(brand, again.reservation, again.notes);
  return { kind: 'record', record: clean.record, notes: [...notes, ...applied.notes, ...clean.notes], isRuled: true };
}

type Unchecked = Parameters<typeof toReservation>[0];

interface Said {
  readonly record: Reservation;
  readonly notes: readonly Note[];
}

function adjusted(draft: Draft, adjust: Adjust | undefined): Draft {
  if (adjust === undefined) return draft;
  const { record, notes } = adjust(draft.record);
  return { ...draft, record, notes: [...draft.notes, ...notes] };
}

const excluded = 'The condition map.where of the connector does not hold.';

/** By this note the store tells such a payload from a row of a list: another mapping reads it, and fields that it omits are not cleared. */
const requestedById: readonly Note[] = [noteOf('requested_by_id', '')];

function cleaned({ region }: Path, reservation: Reservation, before: readonly Note[]): Said {
  const { reservation: record, notes } = normalizeReservation(reservation, region);
  return { record, notes: notes.length === 0 ? before : [...before, ...notes] };
}

/** What a message says that is not a complete record; undefined if one of its fields breaks a rule. */
function partsOf(brand: Path, draft: Pick<Draft, 'record'> & Partial<Draft>): Said | undefined {
  const parts = toParts(draft as Unchecked);
  if (parts.kind === 'invalid' || parts.reservation.id === undefined) return undefined;
  return cleaned(brand, parts.reservation as Reservation, parts.notes);
}

/** The status as it would be stored if the brand let unknown ones pass. */
function withOtherStatus(draft: Draft): Draft {
  const { status, status_raw: raw = status } = draft.record;
  return { ...draft, record: { ...draft.record, status: 'other', status_raw: raw } };
}

function guestsIn(brand: Path, { record }: Draft): readonly Guest[] {
  const named = { id: record.id ?? '-', guests: record.guests } as Draft['record'];
  return partsOf(brand, { record: named })?.record.guests ?? [];
}

/** What changes some fields of a stored reservation; everything else stays as each source said it. */
interface Amendment {
  readonly id: string;
  readonly says: Says;
  /** What the partner sent; null if it cannot be processed again by itself. */
  readonly raw: Json;
  readonly notes: readonly Note[];
  readonly origins?: Statement['origins'];
}

export function amend({ id, says, raw, notes, origins = {} }: Amendment, arrival: Arrival): Statement {
  const failure: DeadLetter = {
    kind: arrival.cause === 'event' ? 'event' : 'record',
    type: 'reservation',
    id,
    code: 'record.unknown_reservation',
    message: 'The reservation is not stored.',
    detail: {},
    raw,
  };
  return {
    type: 'reservation',
    id,
    arrival,
    source: arrival.by ?? arrival.mode,
    manner: { silence: 'keep', lists: 'merge' },
    says,
    failure,
    raw: { key: id, value: raw },
    notes,
    origins,
  };
}
