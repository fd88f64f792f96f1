import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { ErrorCode } from '../errors.ts';
import type { EntityType, EpochMs, Json, Note, Origins } from '../terms.ts';
import type { Consent } from './consent-run.ts';
import type { ItemIds, Manner, ReportingDestination, Source, Statement } from './statement.ts';

/** How a record arrived. */
export interface Arrival {
  /** From the partner's list, from its answer for one reservation, or from an event. */
  readonly mode: 'pull' | 'single' | 'push';
  /** Stated by a destination instead of the partner. */
  readonly by?: ReportingDestination;
  /** When the partner's data was in this state: a page's request, an event's timestamp (never after its receipt). */
  readonly effectiveAt: EpochMs;
  readonly cause: 'run' | 'event' | 'replay' | 'guest' | 'erasure' | 'reprocess';
  /** The run's id, or the event's sequence. */
  readonly causeId: string;
  /** Decides between equal effective times; taken from the store's sequence where it is absent. */
  readonly seq?: number;
  /** W3C traceparent of the span that takes the record in; its deliveries continue the trace. */
  readonly trace?: string;
}

/** How a statement of this source arrives. */
export const arrivedBy = (source: Source): Pick<Arrival, 'mode' | 'by'> =>
  source === 'pull' || source === 'single' || source === 'push' ? { mode: source } : { mode: 'push', by: source };

/**
 * What one message states about a reservation. The store merges it with what other messages stated. The merge comes after shape, check
 * and normalization of the message and before the business rules, so rules see the merged record, and a value written by a rule never
 * counts as the partner's.
 */
export interface Message {
  readonly id: string;
  readonly source: Source;
  readonly manner: Manner;
  /** No other source exists for this integration's reservations, so a newer pulled row is the whole record. */
  readonly isOnlySource: boolean;
  /** Every value comes from the partner; the connector filled in no constant or default. */
  readonly isVerbatim: boolean;
  says(): Statement;
  /** The partner's own ids of its rooms and charges, by position. */
  itemIds(): ItemIds | undefined;
  /** The fields that the message states to be empty. */
  empties(): readonly string[];
  /** The fields that it sent but that could not be read. */
  readonly unread: ReadonlySet<string>;
  /** The rest of the path, for the merged record. */
  finish(merged: { readonly [field: string]: Json }): Finished;
  readonly raw: Json;
  /** Of shape, check and normalization. */
  readonly notes: readonly Note[];
  readonly origins: () => Origins;
  readonly retraceable?: boolean;
  readonly drift?: Incoming['drift'];
}

/** What is said about some fields of a stored reservation. Everything else stays as each source said it. */
export interface Amendment extends Pick<Message, 'id' | 'notes' | 'origins'> {
  readonly says: Statement;
  /** What the partner sent; shown if the amended reservation breaks a rule. */
  readonly sent: Json;
  /** Kept to be processed again; null if that is not possible with what was sent alone. */
  readonly raw: Json;
}

export type Finished =
  | {
      readonly kind: 'record';
      readonly record: Reservation;
      /** Of the business rules, and of what normalization found in the merged record. */
      readonly notes: readonly Note[];
      /** A rule changed it: the record is not what the partner said. */
      readonly isRuled: boolean;
    }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'dead'; readonly deadLetter: RecordDeadLetter };

/** A canonical record to be compared with the stored one. */
export interface Incoming {
  readonly type: EntityType;
  readonly id: string;
  readonly record: Reservation | Guest;
  readonly raw: Json;
  readonly notes: readonly Note[];
  /** Computed only for records that changed. */
  readonly origins: () => Origins;
  /** The origins can be computed again from the documents and the raw record, so they are not stored. */
  readonly retraceable?: boolean;
  /** Of a profile: the last statement about marketing consent, with its source and time. */
  readonly consent?: Consent;
  /** Of a profile: an operator decided its state, with this consent, whenever that was stated. */
  readonly isDecision?: true;
  /** Values missing in the connector's value maps. */
  readonly drift?: readonly { readonly field: string; readonly value: string }[];
}

/**
 * `message` is present where the message can be merged. The other fields describe its result when nothing is stored for the
 * reservation yet.
 */
interface Mergeable {
  readonly message?: Message;
  /** The guests as the partner states them, where there is no message to show it: they may be people who were erased. */
  readonly guests?: () => readonly Guest[];
}

export type Prepared =
  | ({
      readonly kind: 'record';
      readonly arrival: Arrival;
      readonly incoming: Incoming;
      readonly isRuled?: boolean;
      /** Of a row of the partner's list: a hash by which the same row is recognised, or a negative number that no row has. */
      readonly listed?: number | undefined;
    } & Mergeable)
  /** A business rule of the integration dropped the record. */
  | ({
      readonly kind: 'dropped';
      readonly arrival: Arrival;
      /** By default a reservation. */
      readonly type?: EntityType;
      readonly id: string;
      readonly reason: string;
      readonly raw: Json;
    } & Mergeable)
  | ({
      readonly kind: 'dead';
      readonly arrival: Arrival;
      readonly deadLetter: RecordDeadLetter;
      /** Nothing is wrong with the message, but it is only a part of a reservation. */
      readonly isPart?: true;
    } & Mergeable);

export interface RecordDeadLetter {
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

export type OutcomeName =
  | 'created'
  | 'updated'
  | 'cancelled'
  | 'erased'
  | 'removed'
  | 'unchanged'
  | 'superseded'
  | 'dropped'
  | 'dead'
  | 'held';

/** The result for one Prepared. */
export interface MessageOutcome {
  readonly outcome: OutcomeName;
  readonly id?: string;
  readonly version?: number;
  /** Why a message was superseded. */
  readonly reason?: string;
  /**
   * Of a pulled row: a newer statement of another source overrules part of it, so the same row may still change the record next time.
   */
  readonly isOverruled?: boolean;
  /** Some or all of it is held back as an accident of the partner. */
  readonly isHeld?: boolean;
}

/** The results of a batch, in its order. */
export interface Tally {
  readonly changed: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly dropped: number;
  readonly dead: number;
  readonly held: number;
  readonly outcomes: readonly MessageOutcome[];
}
