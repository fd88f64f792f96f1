import { hash } from 'node:crypto';
import { encodeRecord } from '../../canonical/encode.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import { jsonbText, parseJson } from '../../kit/json.ts';
import { type Consent, newerConsent } from '../../reconcile/consent.ts';
import { type Difference, difference } from '../../reconcile/difference.ts';
import type { Arrival, Finished, Message, Prepared, RecordDeadLetter } from '../../reconcile/incoming.ts';
import { mergeMessage, saidAt } from '../../reconcile/merge-message.ts';
import { consentNotes, keptNotes } from '../../reconcile/merge-notes.ts';
import { withConsent } from '../../reconcile/profile.ts';
import { changeAfter, isOlder, reconcile } from '../../reconcile/reconcile.ts';
import { restates } from '../../reconcile/restate.ts';
import {
  hasSameIds,
  isSole,
  readViews,
  type StoredViews,
  soleOf,
  soleView,
  storedViews,
} from '../../reconcile/said.ts';
import { isNewer, type Mark } from '../../reconcile/statement.ts';
import { accept } from '../../reconcile/view.ts';
import type { ChangeEvent, EntityType, Note } from '../../terms.ts';
import { type LockedRecord, type SaidState, saidText } from './locked-records.ts';

/** A record as it is stored. */
export interface Content {
  readonly record: Reservation | Guest;
  readonly text: string;
  /** The text contains every field of the record. */
  readonly isVerbatim: boolean;
  readonly hash: string;
}

/** A prepared message with the record that it would make by itself. */
export interface Arriving {
  readonly index: number;
  readonly type: EntityType;
  readonly id: string;
  readonly arrival: Arrival;
  readonly seq: number;
  readonly prepared: Prepared;
  /** The record that the message would make by itself; undefined if it is incomplete. */
  readonly alone: Content | undefined;
  /** Hash of that record and of the fields stated to be empty; empty text if there is no record. */
  readonly hash: string;
}

/** The outcome of a message, decided while its record is locked. */
export type Decision =
  | {
      readonly kind: 'change';
      readonly event: ChangeEvent;
      readonly version: number;
      readonly content: Content;
      readonly state: SaidState;
      readonly diff: readonly Difference[];
      readonly notes: readonly Note[];
      readonly isOverruled?: boolean;
    }
  | {
      readonly kind: 'unchanged' | 'superseded';
      readonly version: number;
      readonly reason?: string;
      /** Present if the message changes the stored statements but not the record. */
      readonly state?: SaidState;
      readonly isOverruled?: boolean;
    }
  | Exclude<Finished, { kind: 'record' }>;

export function contentOf(record: Reservation | Guest): Content {
  const encoded = encodeRecord(record);
  const text = jsonbText(encoded);
  return { record, text, isVerbatim: text === encoded, hash: sha256(text) };
}

/** Two pulled rows with the same hash have the same values and the same empty fields. */
export function statementHash({ text, hash: own }: Content, message: Message | undefined): string {
  if (message === undefined || message.isOnlySource || message.source !== 'pull') return own;
  const empties = message.empties();
  return empties.length === 0 ? own : sha256(`${text}\n${empties.join(' ')}`);
}

/** `sightedAt`: when the partner's list last showed the pulled state, if that was after the message. */
export function decide(arriving: Arriving, before: LockedRecord | undefined, sightedAt: Date | undefined): Decision {
  const { message } = arriving.prepared;
  if (before === undefined || before.version === 0) return first(arriving);
  const isPullAlone =
    message === undefined ||
    (message.source === 'pull' && message.isOnlySource && isSole(before.said, 'pull') && arriving.alone !== undefined);
  if (isPullAlone) return replaced(arriving, before, sightedAt);
  return restated(arriving, message, before) ?? merged(arriving, message, before, sightedAt);
}

/** The first message of a record. */
export function first(arriving: Arriving): Decision {
  const { alone, prepared, arrival, seq } = arriving;
  if (alone === undefined) return unmade(prepared);
  const { message } = prepared;
  const status = statusOf(alone.record);
  return {
    kind: 'change',
    ...changeAfter(undefined, status),
    content: alone,
    state: {
      effectiveAt: arrival.effectiveAt,
      seq,
      said: message ? firstViews(message, [arrival.effectiveAt, seq], isRuled(prepared)) : profileSaid(prepared),
      pulledHash: message === undefined || message.source === 'pull' ? otherThan(alone, arriving.hash) : '',
    },
    // Everything is new in the first version, and its data shows that already.
    diff: [],
    notes: prepared.kind === 'record' ? prepared.incoming.notes : [],
  };
}

/** The other hash, unless it equals the record's own. */
const otherThan = ({ hash: own }: Content, other: string): string | undefined => (own === other ? undefined : other);

function firstViews(message: Message, said: Mark, ruled: boolean): StoredViews | undefined {
  const { source, isOnlySource, manner } = message;
  if (source === 'pull' && isOnlySource && !ruled) return undefined;
  // The usual case: the view equals the record, so no separate view is stored.
  if (!ruled && message.isVerbatim && manner.lists === 'replace') {
    return soleView(source, said, message.empties(), message.itemIds());
  }
  return storedViews({ [source]: accept(undefined, message.says(), said, manner) }, ruled);
}

const profileSaid = (prepared: Prepared): StoredViews | undefined =>
  prepared.kind === 'record' && prepared.incoming.consent ? { consent: prepared.incoming.consent } : undefined;

/** The source and time of a consent are kept for as long as the profile has that consent. */
const consentKept = ({ type }: Arriving, record: object, said: StoredViews | undefined): StoredViews | undefined =>
  type === 'guest' && ((record as Guest).marketing_consent ?? null) === said?.consent?.value ? said : undefined;

/** The newer of the message's statement and the profile's; undefined if the message states nothing. */
function newestConsent(prepared: Prepared, { said }: LockedRecord): Consent | undefined {
  if (prepared.kind !== 'record') return undefined;
  const { consent: stated, isDecision } = prepared.incoming;
  return stated === undefined || isDecision ? stated : newerConsent(said?.consent, stated);
}

/** A newer message may have an older consent than a reservation that repeated its own since then. */
function contentWith(content: Content, consent: Consent | undefined): Content {
  const record = withConsent(content.record as Guest, consent);
  return record === content.record ? content : contentOf(record);
}

const isRuled = (prepared: Prepared): boolean => prepared.kind === 'record' && prepared.isRuled === true;

function unmade(prepared: Prepared): Exclude<Finished, { kind: 'record' }> {
  if (prepared.kind === 'dropped') return { kind: 'dropped', reason: prepared.reason };
  if (prepared.kind === 'dead') return { kind: 'dead', deadLetter: letterOf(prepared) };
  throw new TypeError('a record without content');
}

/** The dead letter of a message for which no reservation is stored. */
export function letterOf({ deadLetter, isPart }: Extract<Prepared, { kind: 'dead' }>): RecordDeadLetter {
  if (!isPart) return deadLetter;
  const message = `The reservation is not stored, and the message alone is not enough: ${deadLetter.message}`;
  return { ...deadLetter, code: 'record.unknown_reservation', message };
}

/** There is no other source: the newest state replaces the record. */
function replaced(arriving: Arriving, before: LockedRecord, sightedAt: Date | undefined): Decision {
  const { arrival, seq, prepared } = arriving;
  if (arriving.alone === undefined) return unmade(prepared);
  const stated = newestConsent(prepared, before);
  const alone = arriving.type === 'guest' ? contentWith(arriving.alone, stated) : arriving.alone;
  const status = statusOf(alone.record);
  const arrived = { effectiveAt: arrival.effectiveAt, seq, hash: alone.hash, status };
  const verdict = reconcile(before, arrived);
  const { said } = before;
  if (verdict.kind === 'unchanged') {
    const state = {
      effectiveAt: arrival.effectiveAt,
      seq,
      said: stated === undefined ? said : { consent: stated },
      pulledHash: before.pulledHash,
    };
    return { kind: 'unchanged', version: before.version, ...(isOlder(before, arrived) && { state }) };
  }
  if (verdict.kind === 'superseded') {
    return lateConsent(arriving, before) ?? { kind: 'superseded', version: before.version, reason: newerIsStored };
  }
  if (sightedAt !== undefined) return { kind: 'superseded', version: before.version, reason: stillShown(sightedAt) };
  return {
    ...verdict,
    content: alone,
    state: {
      effectiveAt: arrival.effectiveAt,
      seq,
      said: stated === undefined ? consentKept(arriving, alone.record, said) : { consent: stated },
      pulledHash: undefined,
    },
    diff: difference(before.data, parseJson(alone.text)),
    notes: prepared.kind === 'record' ? prepared.incoming.notes : [],
  };
}

const newerIsStored = 'A newer state is stored.';

/**
 * A message that is older than the profile changes its consent, if nothing newer was said about it: a withdrawal must not be lost
 * because another message about the guest was faster.
 */
function lateConsent({ type, prepared }: Arriving, before: LockedRecord): Decision | undefined {
  const stated = prepared.kind === 'record' ? prepared.incoming.consent : undefined;
  if (type !== 'guest' || stated === undefined) return undefined;
  if (newerConsent(before.said?.consent, stated) !== stated) return undefined;
  const content = contentOf(withConsent(before.data as Guest, stated));
  const { version, effectiveAt, seq, pulledHash } = before;
  const state = { effectiveAt, seq, said: { consent: stated }, pulledHash };
  if (content.hash === before.hash) return { kind: 'superseded', version, reason: newerIsStored, state };
  const diff = difference(before.data, parseJson(content.text));
  return { kind: 'change', ...changeAfter(before, undefined), content, state, diff, notes: [] };
}

const stillShown = (sightedAt: Date): string =>
  `The partner's list, requested at ${sightedAt.toISOString()}, still showed the stored state.`;

/** The only source sends all its fields again, with a newer state: the record is the message. Undefined if it must be merged. */
function restated(arriving: Arriving, message: Message, before: LockedRecord): Decision | undefined {
  const { alone, arrival, seq, prepared } = arriving;
  const { source, manner, isVerbatim } = message;
  const isWhole = alone !== undefined && prepared.kind === 'record' && !isRuled(prepared) && isVerbatim;
  if (!isWhole || manner.lists !== 'replace' || !isSole(before.said, source)) return undefined;
  const said: Mark = [arrival.effectiveAt, seq];
  if (!isNewer(said, [before.effectiveAt, before.seq])) return undefined;
  const none = message.empties();
  const sole = soleOf(before.said, source);
  const known = { record: before.data as object, none: sole?.none ?? [] };
  const ids = message.itemIds();
  if (!hasSameIds(ids, sole?.ids) || !restates({ record: alone.record, none }, known)) return undefined;
  const state: SaidState = {
    effectiveAt: arrival.effectiveAt,
    seq,
    said: soleView(source, said, none, ids),
    pulledHash: otherThan(alone, source === 'pull' ? arriving.hash : ''),
  };
  if (alone.hash === before.hash) return { kind: 'unchanged', version: before.version, state };
  const diff = difference(before.data, parseJson(alone.text));
  const giver = { source, at: said };
  return {
    kind: 'change',
    ...changeAfter(before, statusOf(alone.record)),
    content: alone,
    state,
    diff,
    notes: [...prepared.incoming.notes, ...consentNotes(diff, () => giver)],
  };
}

/** Merges the message with the statements of other sources. */
function merged(arriving: Arriving, message: Message, before: LockedRecord, sightedAt: Date | undefined): Decision {
  const { arrival, seq } = arriving;
  const said: Mark = [arrival.effectiveAt, seq];
  const known = readViews(before.said, before.reservation(), [before.effectiveAt, before.seq]);
  const { pull } = known;
  const isSeenSince = pull !== undefined && sightedAt !== undefined && sightedAt.getTime() > pull.said[0];
  const views = isSeenSince ? { ...known, pull: saidAt(pull, [sightedAt.getTime(), 0]) } : known;
  const result = mergeMessage(views, message, said);
  const finished = message.finish(result.draft);
  if (finished.kind !== 'record') return finished;
  const content = contentOf(finished.record);
  const [effectiveAt, newestSeq] = isNewer(said, [before.effectiveAt, before.seq])
    ? said
    : [before.effectiveAt, before.seq];
  const inLine = pulledHashAfter(arriving, message, before, result);
  const state: SaidState = {
    effectiveAt,
    seq: newestSeq,
    said: storedViews(result.views, finished.isRuled),
    pulledHash: otherThan(content, inLine),
  };
  const { isOverruled } = result;
  if (content.hash === before.hash) {
    const reason = sightedAt === undefined ? newerIsStored : stillShown(sightedAt);
    return {
      kind: isOverruled ? 'superseded' : 'unchanged',
      version: before.version,
      ...(isOverruled && { reason, isOverruled }),
      ...(!isSameState(before, state) && { state }),
    };
  }
  const diff = difference(before.data, parseJson(content.text));
  return {
    kind: 'change',
    ...changeAfter(before, finished.record.status),
    content,
    state,
    diff,
    notes: [
      ...message.notes,
      ...finished.notes,
      // A guest event is about one guest; that the rest of the reservation stays needs no note.
      ...(arrival.cause === 'guest' ? [] : keptNotes(result.givers, message.source, said)),
      ...consentNotes(diff, (path) => result.givers.get(path)),
    ],
    ...(isOverruled && { isOverruled }),
  };
}

/** Hash of the pulled row that the record is in line with after the message; empty where it is in line with none. */
function pulledHashAfter(
  arriving: Arriving,
  { source }: Message,
  before: LockedRecord,
  { isPullInForce }: { readonly isPullInForce: boolean },
): string {
  if (!isPullInForce) return '';
  return source === 'pull' ? arriving.hash : (before.pulledHash ?? before.hash);
}

function isSameState(before: LockedRecord, { effectiveAt, seq, said, pulledHash }: SaidState): boolean {
  return (
    before.effectiveAt === effectiveAt &&
    before.seq === seq &&
    before.pulledHash === pulledHash &&
    saidText(before.said) === saidText(said)
  );
}

function statusOf(record: Reservation | Guest): string | undefined {
  return 'status' in record ? record.status : undefined;
}

/** One call instead of a hash object: about a microsecond less per record. */
const sha256 = (text: string): string => hash('sha256', text, 'hex');
