import type { ErrorCode } from '../../errors.ts';
import type { ChangeEvent, EntityType, EpochMs, Json, Note, Origins } from '../../terms.ts';
import { describeProblems, type Problem } from '../canonical/field-check.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { RawRecord } from '../shape/config.ts';
import type { Consent } from './consent.ts';
import { type Content, isEnded, type ReportingDestination, type Scope, type Source, type Time } from './content.ts';
import type { Difference } from './difference.ts';
import type { StoredClaims } from './stored-claims.ts';

/**
 * The forms of a booking between the partner and the store, all plain data:
 *
 *   Receipt     how and when something arrived
 *   Statement   what it says about one record, checked and normalized; `read` makes it (pipeline.ts)
 *   Stored      the record's row, locked
 *   Decision    what the statement changes; `decide` makes it (pipeline.ts)
 */

export interface Receipt {
  /** From the partner's list, from its answer for one reservation, or from an event. */
  readonly mode: 'pull' | 'single' | 'push';
  /** Stated by a destination instead of the partner. */
  readonly by?: ReportingDestination;
  /** When the partner's data was in this state: a page's request, an event's timestamp (never after its receipt). */
  readonly effectiveAt: EpochMs;
  /** Of an event: when it was received. */
  readonly receivedAt?: EpochMs;
  readonly cause: 'run' | 'event' | 'replay' | 'guest' | 'erasure' | 'reprocess';
  /** The run's id, or the event's sequence. */
  readonly causeId: string;
  /** Decides between equal effective times; taken from the store's sequence where it is absent. */
  readonly seq?: number;
  /** W3C traceparent of the span that takes the record in; its deliveries continue the trace. */
  readonly trace?: string;
}

/** How a statement of this source arrives. */
export const arrivedBy = (source: Source): Pick<Receipt, 'mode' | 'by'> =>
  source === 'guest' || source === 'profile'
    ? { mode: 'push' }
    : source === 'pull' || source === 'single' || source === 'push'
      ? { mode: source }
      : { mode: 'push', by: source };

/** The cause of what is processed again under the documents in force. */
export const reprocessedBy = (documents: { readonly connectorVersion: number; readonly integrationVersion: number }) =>
  ({
    cause: 'reprocess',
    causeId: `connector ${documents.connectorVersion}, integration ${documents.integrationVersion}`,
  }) as const;

export interface Statement {
  readonly type: EntityType;
  /** Empty if the record has no readable id. */
  readonly id: string;
  readonly receipt: Receipt;
  readonly source: Source;
  readonly scope: Scope;
  /** Of a reservation. Absent if it cannot be read, or must not be merged; `failure` says why. */
  readonly content?: Content | undefined;
  /** It is about a person: it adds to what is known of guests, and never says that a booking has one. */
  readonly isPerson?: true | undefined;
  /** Of a profile: the fields that the message states, also empty; without it, the record is the whole profile. */
  readonly present?: ReadonlySet<string> | undefined;
  /** Of a profile: the message was read before, and what it no longer states was read wrongly. That is what the bookings say instead. */
  readonly fallback?: Guest | undefined;
  /** An operator released the values of this hold; the statement says nothing itself. */
  readonly releases?: string | undefined;
  /** The record that it makes by itself, before business rules; absent if it is not complete. */
  readonly record?: Reservation | Guest | undefined;
  /** Why it makes no record by itself. */
  readonly failure?: DeadLetter | undefined;
  /** Nothing is wrong with it, but it says only a part of a reservation. */
  readonly isPart?: true | undefined;
  /** Why it is not for this brand, or must leave: a reason for the timeline. */
  readonly dropped?: string | undefined;
  readonly raw: RawRecord;
  /** Of shape, check and normalization. */
  readonly notes: readonly Note[];
  /** Where its values came from, if its mapping cannot tell it again. */
  readonly origins?: Origins | undefined;
  /** Values missing in the connector's value maps. */
  readonly drift?: readonly { readonly field: string; readonly value: string }[] | undefined;
  /** Of a row of the partner's list: a hash by which the same row is recognised, or a negative number that no row has. */
  readonly listed?: number | undefined;
  /** The guests as the partner states them, where nothing else shows it: they may be people who were erased. */
  readonly guests?: readonly Guest[] | undefined;
  /** Of a profile: the last statement about marketing consent, with its source and time. */
  readonly consent?: Consent | undefined;
  /** Of a profile: an operator decided its state, with this consent, whenever that was stated. */
  readonly isDecision?: true | undefined;
}

export interface DeadLetter {
  readonly kind: 'record' | 'event';
  readonly type: EntityType;
  /** Absent if the record has no readable id. */
  readonly id?: string;
  readonly code: ErrorCode;
  /** For an operator, without values of personal fields. */
  readonly message: string;
  readonly detail: Json;
  readonly raw: Json;
}

export interface Stored {
  /** 0: a row without a record; all that was said about it is set aside. */
  readonly version: number;
  readonly event: ChangeEvent;
  readonly time: Time;
  /** The record as JSON. */
  readonly text: string;
  /** What each source says; absent if the record equals the pulled row. */
  readonly claims?: StoredClaims | undefined;
  /** When the partner's list last showed the reservation unchanged, if that was after the oldest statement of the batch. */
  readonly sightedAt?: EpochMs | undefined;
}

/** What is written for a record besides its content. */
export interface RecordState {
  readonly time: Time;
  readonly claims: StoredClaims | undefined;
}

/** A new version of a record. */
export interface Change {
  readonly kind: 'change';
  readonly event: ChangeEvent;
  readonly version: number;
  readonly record: Reservation | Guest;
  readonly text: string;
  readonly state: RecordState;
  readonly diff: readonly Difference[];
  readonly notes: readonly Note[];
  readonly reason?: string;
  /** The reservation that a rule drops: the hotel sold it, so its figures count it. */
  readonly sold?: Reservation;
  /** A newer statement overrules part of it. */
  readonly isOverruled?: boolean;
  /** Some of its values are set aside. */
  readonly isHeld?: boolean;
}

export type Decision =
  | Change
  | {
      readonly kind: 'unchanged' | 'superseded' | 'held';
      readonly version: number;
      readonly reason?: string;
      /** Present if it changes what is stored beside the record. */
      readonly state?: RecordState;
      readonly isOverruled?: boolean;
      readonly isHeld?: boolean;
      /** Of the values that do not count. */
      readonly notes?: readonly Note[];
      /** The partner's list shows what it showed before: that it was seen is kept for the whole page, instead of the state. */
      readonly isShown?: boolean;
    }
  | { readonly kind: 'dropped'; readonly reason: string; readonly state?: RecordState; readonly sold?: Reservation }
  | {
      readonly kind: 'dead';
      readonly deadLetter: DeadLetter;
      /** The booking is not stored yet: what the message says waits for it. */
      readonly state?: RecordState;
    };

/** What became of one statement. */
export interface StatementOutcome {
  readonly outcome: ChangeEvent | 'unchanged' | 'superseded' | 'dropped' | 'dead' | 'held';
  readonly id?: string;
  readonly version?: number;
  /** Why it changed nothing: superseded, held, dropped or dead. */
  readonly reason?: string;
  /** Of a pulled row: part of it does not count now, so the same row may still change the record next time. */
  readonly isOverruled?: boolean;
  /** Some or all of it is held back as an accident of the partner. */
  readonly isHeld?: boolean;
}

/** The results of a batch, in its order. */
export interface Summary {
  readonly changed: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly dropped: number;
  readonly dead: number;
  readonly held: number;
  readonly outcomes: readonly StatementOutcome[];
  /** An erased guest is in the payload of an event, which must not be kept. */
  readonly erasesPayload?: boolean;
}

export function summaryOf(outcomes: readonly StatementOutcome[]): Summary {
  const counts = { changed: 0, unchanged: 0, superseded: 0, dropped: 0, dead: 0, held: 0 };
  for (const { outcome, isHeld } of outcomes) {
    if (isHeld) counts.held++;
    if (outcome === 'held') continue;
    if (outcome === 'unchanged' || outcome === 'superseded' || outcome === 'dropped' || outcome === 'dead')
      counts[outcome]++;
    else counts.changed++;
  }
  return { ...counts, outcomes };
}

/** The next version of a record, and what kind of change it is. Every status may follow every other: hotels undo check-ins and revive cancellations. */
export function changeAfter(
  known: { readonly version: number; readonly status?: string | undefined } | undefined,
  status: string | undefined,
): { readonly event: ChangeEvent; readonly version: number } {
  const endsNow = isEnded(status) && !isEnded(known?.status);
  const event = endsNow ? 'cancelled' : known === undefined ? 'created' : 'updated';
  return { event, version: (known?.version ?? 0) + 1 };
}

export const newerIsStored = 'A newer state is stored.';

export const recordKey = ({ type, id }: { readonly type: EntityType; readonly id: string }): string => `${type} ${id}`;

/** The rule that a reservation breaks. */
export interface Broken {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  readonly message?: string;
}

export function deadLetter(
  receipt: Receipt,
  raw: RawRecord,
  { code, problems, message }: Broken,
  id: string,
): DeadLetter {
  return {
    kind: receipt.cause === 'event' ? 'event' : 'record',
    type: 'reservation',
    ...(id !== '' && { id }),
    code,
    message: message ?? describeProblems(problems),
    detail: {
      problems: problems.map((problem) => ({ ...problem })),
      ...(isRequestedById(receipt) && { requested_by_id: true }),
    },
    // Includes the surrounding data that a replay needs if the mapping reads outside the record.
    raw: { ...raw } as unknown as Json,
  };
}

/** The dead letter of a statement for which no reservation is stored. */
export function letterOf(letter: DeadLetter, isPart: boolean | undefined): DeadLetter {
  if (!isPart) return letter;
  const message = `The reservation is not stored, and the message alone is not enough: ${letter.message}`;
  return { ...letter, code: 'record.unknown_reservation', message };
}

export const timeOf = ({ effectiveAt, seq = 0 }: Receipt): Time => [effectiveAt, seq];

/** A row of a list that a run reads. Older rows that are processed again show nothing. */
export const isOfList = ({ receipt, source }: Statement): boolean => receipt.cause === 'run' && source === 'pull';

/** The run asked the partner for this one reservation. */
export const isRequestedById = ({ mode, cause }: Receipt): boolean => mode === 'single' && cause === 'run';

/** The feed of a batch; undefined if an operator decided about the statements, which nobody judges. */
export function feedOf(statements: readonly Statement[]): Feed | undefined {
  const cause = statements[0]?.receipt.cause;
  return cause === 'run' ? 'pull' : cause === 'event' ? 'push' : undefined;
}

export type Feed = 'pull' | 'push';
