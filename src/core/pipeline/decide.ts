import type { Note } from '../../terms.ts';
import type { Plan } from '../brand/compile.ts';
import { type ReservationDraft, toMerged, toReservation } from '../canonical/check.ts';
import { noteOf } from '../canonical/notes.ts';
import { asJson, decodeRecord, type Reservation, recordText } from '../canonical/reservation.ts';
import { normalizeReservation } from '../normalize/normalize.ts';
import type { Accounts, Claim, Claims } from '../reconcile/claim.ts';
import { placed, seenAgain } from '../reconcile/claims.ts';
import { type Content, isNewer, type Time, type Values } from '../reconcile/content.ts';
import { decideProfile } from '../reconcile/decide-profile.ts';
import { difference, isEqual } from '../reconcile/difference.ts';
import {
  changeAfter,
  type DeadLetter,
  type Decision,
  deadLetter,
  isOfList,
  letterOf,
  newerIsStored,
  type Statement,
  type Stored,
  timeOf,
} from '../reconcile/forms.ts';
import { merge, type Winner } from '../reconcile/merge.ts';
import { consentNotes, keptNotes } from '../reconcile/merge-notes.ts';
import {
  type Folded,
  foldAll,
  type HeldPath,
  type Quarantined,
  quarantineAfter,
  quarantinedOf,
} from '../reconcile/quarantine.ts';
import { readClaims, storedClaims } from '../reconcile/stored-claims.ts';

/**
 * What a statement changes. A record is a function of the claims of its sources: each source's are folded in the order of their times, and of
 * two statements about a field the one with the later effective time wins (reconcile/merge.ts). The statement's claim takes its place among
 * them, so a late event does not overwrite what a newer pull says, and every order of arrival ends in the same state. The decision is the
 * difference between the record before and after.
 */
export function decide(
  brand: Plan,
  stored: Stored | undefined,
  statement: Statement,
  held: readonly (HeldPath & { readonly reason: string })[] = [],
): Decision {
  const isNew = stored === undefined || stored.version === 0;
  const isIncomplete = isNew && statement.failure !== undefined;
  if (statement.type === 'guest') return isIncomplete ? refused(statement) : decideProfile(stored, statement);
  if (!isReadable(statement, held)) return refused(statement);
  if (isIncomplete) return { ...refused(statement), ...waiting(stored, statement) };
  const before = isNew ? undefined : decodeRecord('reservation', stored.text);
  const known = knownClaims(stored, before);
  const { claims, claim, isRepeated, isTooOld } = withStatement(known, statement);
  const kept = (stored?.claims?.quarantine ?? []).filter(
    ({ hold, state }) => hold !== statement.releases || state !== 'held',
  );
  const quarantine = held.length === 0 ? kept : quarantineWith(kept, held, { known, claim, statement, before, brand });
  const made = recordOf(brand, claims, quarantine, statement);
  const { blocked } = made.folded;
  const open = quarantineAfter(quarantine, made.folded, brand.lagMs);
  const own = blocked.filter((one) => claim !== undefined && one.claim.at === claim.at);
  const isHeld = own.some(({ by }) => open.includes(by) && by.state === 'held');
  const dropped = own.filter(({ by }) => by.state === 'refused');
  const time = timeOf(statement.receipt);
  const version = stored?.version ?? 0;
  const reason = held.map((one) => one.reason).join(' ');
  if (made.isEmpty) {
    const state = { time, claims: storedClaims(claims, false, open) };
    return { kind: 'held', version, reason, state, isHeld, isOverruled: true };
  }
  const finished = finish(brand, statement, made.draft);
  if (finished.kind === 'dead') return finished;
  const newest = stored && isNewer(stored.time, time) ? stored.time : time;
  if (finished.kind === 'dropped') {
    if (stored === undefined || before === undefined) return finished;
    // The connector leaves the statement out, which counts by its time too: a late one says nothing of the booking that it became.
    if (statement.dropped !== undefined && isNewer(stored.time, time))
      return { kind: 'superseded', version, reason: newerIsStored, isOverruled: true };
    return left(stored, before, statement, finished, { time: newest, claims: storedClaims(claims, false, open) });
  }
  const { record } = finished;
  const next = { time: newest, claims: storedClaims(claims, made.isPlain && !finished.isRuled, open) };
  const text = recordText(record);
  const diff = before === undefined || text === stored?.text ? [] : difference(asJson(before), asJson(record));
  const refusals = dropped.map(({ by }) => noteOf('refused', by.path));
  const isChange = isNew || stored.event === 'removed' || diff.length > 0;
  // Of a change only a row of the list asks for it: whether the same row may change the record at the next poll.
  const overruled =
    !isNew &&
    (!isChange || statement.listed !== undefined) &&
    (isTooOld || isOverruled(brand, known, claims, claim, made, statement));
  const marks = { ...((overruled || own.length > 0) && { isOverruled: true }), ...(isHeld && { isHeld }) };
  if (!isChange) {
    const kind = isHeld ? 'held' : overruled ? 'superseded' : 'unchanged';
    const why = isHeld
      ? reason
      : (refusals[0]?.reason ?? (overruled ? overruledBecause(stored, time, brand) : undefined));
    return {
      kind,
      version,
      ...(why !== undefined && { reason: why }),
      ...(!isSameState(stored, next) && { state: next }),
      ...marks,
      ...(refusals.length > 0 && !isRepeated && { notes: refusals }),
      isShown: isRepeated && open.length === 0 && kept.length === 0 && isOfList(statement) && !isNotedAgain(statement),
    };
  }
  // A guest event is about one guest; that the rest of the reservation stays needs no note.
  const winners = isNew ? undefined : made.winners?.();
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
      ...(winners === undefined || statement.receipt.cause === 'guest'
        ? []
        : keptNotes(winners, statement.source, time)),
      ...(winners === undefined ? [] : consentNotes(diff, (path) => winners.get(path))),
      ...held.map(({ path, reason }) => noteOf('held', path, { reason })),
      ...refusals,
    ],
    ...marks,
  };
}

type Readable = Statement & { readonly content: Content };

/** What each source said. The list also says what a page showed unchanged, which is not written to the record. */
function knownClaims(stored: Stored | undefined, before: Reservation | undefined): Claims {
  if (stored === undefined) return {};
  const claims = readClaims(stored.claims ?? (before ? undefined : {}), before as Reservation, stored.time);
  const last = claims.pull?.at(-1);
  if (last === undefined || stored.sightedAt === undefined) return claims;
  return { ...claims, pull: [...(claims.pull ?? []).slice(0, -1), seenAgain(last, [stored.sightedAt, 0])] };
}

interface WithStatement {
  readonly claims: Claims;
  /** The claim of the statement, or the one that it repeats; absent if it says nothing itself. */
  readonly claim?: Claim | undefined;
  readonly isRepeated: boolean;
  readonly isTooOld?: boolean;
}

function withStatement(known: Claims, statement: Readable): WithStatement {
  const { content, source, scope, receipt, isPerson, releases } = statement;
  if (releases !== undefined) return { claims: known, isRepeated: false };
  const at = timeOf(receipt);
  const { log, isRepeated, isTooOld } = placed(known[source] ?? [], {
    at,
    scope,
    content,
    ...(isPerson && { isPerson }),
  });
  const claim = isRepeated ? log.at(-1) : log.findLast((one) => !isNewer(one.at, at));
  return { claims: { ...known, [source]: log }, claim, isRepeated, ...(isTooOld && { isTooOld }) };
}

/** What is held of a claim is compared with what the booking is without it. */
function quarantineWith(
  kept: readonly Quarantined[],
  held: readonly HeldPath[],
  about: {
    readonly known: Claims;
    readonly claim: Claim | undefined;
    readonly statement: Statement;
    readonly before: Reservation | undefined;
    readonly brand: Plan;
  },
): readonly Quarantined[] {
  const { known, claim, statement, before, brand } = about;
  if (claim === undefined) return kept;
  const { accounts } = foldAll(known, kept, brand.lagMs);
  const draft = before && (merge(accounts).draft as Values);
  const { source } = statement;
  let all = kept;
  for (const one of held) {
    const made = quarantinedOf(one, claim, source, accounts[source], draft);
    if (made === undefined) continue;
    const same = all.find((each) => isSameHeld(each, made));
    if (same === undefined) all = [...all, made];
    // Held already, of a newer claim: this one is late.
    else if (isNewer(same.at, made.at)) all = all.with(all.indexOf(same), { ...same, at: made.at });
  }
  return all;
}

const isSameHeld = (a: Quarantined, b: Quarantined): boolean =>
  a.hold === b.hold &&
  a.path === b.path &&
  a.source === b.source &&
  a.state === b.state &&
  isEqual(a.content, b.content);

interface Made {
  readonly folded: Folded;
  readonly draft: Reservation | ReservationDraft;
  readonly winners?: () => ReadonlyMap<string, Winner>;
  /** The record is what the statement says by itself. */
  readonly isPlain: boolean;
  /** Nothing that was said counts. */
  readonly isEmpty: boolean;
}

/** The record that the claims make. The usual case is one source whose newest message says everything: then it is what that message says. */
function recordOf(brand: Plan, claims: Claims, quarantine: readonly Quarantined[], statement: Readable): Made {
  const isPlain = quarantine.length === 0 && isWhole(claims, statement);
  if (isPlain) {
    const folded = { accounts: {}, blocked: [] };
    return { folded, draft: statement.record as Reservation, isPlain, isEmpty: false };
  }
  const folded = foldAll(claims, quarantine, brand.lagMs);
  const { draft, winners } = merge(folded.accounts);
  return { folded, draft: draft as ReservationDraft, winners, isPlain, isEmpty: isNothing(folded.accounts) };
}

const isNothing = (accounts: Accounts): boolean => Object.keys(accounts).length === 0;

/** One source, whose newest claim is the statement and leaves nothing to what it said before. */
function isWhole(claims: Claims, { source, record, content, isPerson, receipt }: Readable): boolean {
  if (record === undefined || isPerson || Object.keys(claims).length !== 1) return false;
  const log = claims[source] ?? [];
  const last = log.at(-1);
  if (last === undefined || last.at.join() !== timeOf(receipt).join()) return false;
  if (log.length > 1 && (last.scope.fields === 'partial' || last.scope.lists === 'partial')) return false;
  if (last.scope.lists === 'partial' || content.unread !== undefined || content.assumed !== undefined) return false;
  return Object.values(content.lists).every((items) => items?.every((item) => !item.at && !item.as && !item.isOwn));
}

/** Part of it does not count now: a newer statement overrules it, or it repeats a row from before an event. */
function isOverruled(
  brand: Plan,
  known: Claims,
  claims: Claims,
  claim: Claim | undefined,
  made: Made,
  { source, receipt }: Readable,
): boolean {
  if (claim === undefined || made.isPlain) return false;
  const time = timeOf(receipt);
  const others = Object.entries(known).filter(([name]) => name !== source);
  const isLate = Object.values(known).some((log) => log?.some(({ at, seen }) => isNewer(seen ?? at, time)));
  const isCopy = claim.at.join() !== time.join();
  if (!isLate && !(isCopy && others.length > 0)) return false;
  const last = { ...claim, at: endOfTime, seen: undefined };
  const log = (claims[source] ?? []).filter((one) => one !== claim);
  const { accounts } = foldAll({ ...claims, [source]: [...log, last] }, [], brand.lagMs);
  return !isEqual(merge(accounts).draft, made.draft);
}

const endOfTime: Time = [Number.MAX_SAFE_INTEGER, 0];

/** A status that no value map knows is heard only to be set aside, when nearly all rows have one. */
function isReadable(statement: Statement, held: readonly HeldPath[]): statement is Readable {
  if (statement.content === undefined) return false;
  return statement.failure?.code !== 'record.unknown_status' || held.some(({ path }) => path === 'status');
}

/** A message that names a booking which is not stored yet: it counts as soon as the booking comes. */
function waiting(stored: Stored | undefined, statement: Readable): Pick<Decision & { kind: 'dead' }, 'state'> {
  const { failure, receipt, dropped, isPart } = statement;
  const isOvertaking = receipt.cause === 'event' && (isPart === true || failure?.code === 'push.not_hydrated');
  if (!isOvertaking || dropped !== undefined) return {};
  const { claims } = withStatement(knownClaims(stored, undefined), statement);
  return { state: { time: timeOf(receipt), claims: storedClaims(claims, false, stored?.claims?.quarantine) } };
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
  state: { readonly time: Stored['time']; readonly claims: Stored['claims'] },
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
function overruledBecause({ sightedAt }: Stored, time: Time, { lagMs }: Plan): string {
  if (sightedAt === undefined || !isNewer([sightedAt - lagMs, 0], time)) return newerIsStored;
  const after = lagMs === 0 ? '' : ` more than ${lagMs / 60_000} minutes later,`;
  return `The partner's list, requested at ${new Date(sightedAt).toISOString()},${after} still showed the stored state.`;
}

/** A value that could not be read is noted, unless its row cannot be recognised the next time: it would be noted at each poll. */
const isNotedAgain = (statement: Readable): boolean =>
  isOfList(statement) && (statement.content.unread?.length ?? 0) > 0 && (statement.listed ?? 1) > 0;

const isSameState = (stored: Stored, { time, claims }: Pick<Stored, 'time' | 'claims'>): boolean =>
  !isNewer(time, stored.time) &&
  !isNewer(stored.time, time) &&
  JSON.stringify(stored.claims) === JSON.stringify(claims);

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

/** What concerns several fields of a merged record, then the rules. Each value is checked and normalized already. */
export function finish(brand: Plan, statement: Statement, merged: Reservation | ReservationDraft): Finished {
  const failed = (broken: Parameters<typeof deadLetter>[2], id = statement.id): Finished => {
    const raw = brand.shapers[statement.receipt.mode].selfContained(statement.raw);
    return { kind: 'dead', deadLetter: deadLetter(statement.receipt, raw, broken, id) };
  };
  if (statement.dropped !== undefined) return { kind: 'dropped', reason: statement.dropped };
  let [record, notes]: [Reservation, readonly Note[]] = [merged as Reservation, []];
  if (merged !== statement.record) {
    const checked = toMerged(merged);
    if (checked.kind === 'invalid') return failed(checked);
    const clean = normalizeReservation(checked.reservation, brand.region, true);
    [record, notes] = [clean.reservation, [...checked.notes, ...clean.notes]];
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
  const areGuestsKept = (applied.record as Reservation).guests === record.guests;
  const clean = normalizeReservation(again.reservation, brand.region, areGuestsKept);
  const all = [...notes, ...applied.notes, ...again.notes, ...clean.notes];
  return { kind: 'record', record: clean.reservation, notes: all, isRuled: true };
}
