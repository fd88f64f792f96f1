import type { Reservation } from '../canonical/reservation.ts';
import type { ChangeEvent, EntityType, Json, Note } from '../terms.ts';
import type { HeldBack } from './accidents/hold-back.ts';
import type { Content, ContentOf } from './content.ts';
import type { Difference } from './difference.ts';
import type { Arrival, Finished, Prepared, RecordDeadLetter } from './incoming.ts';
import type { Known } from './reconcile.ts';
import type { RecordState } from './record-state.ts';
import type { Moment } from './statement.ts';
import type { StoredViews } from './stored-views.ts';

/** A locked row; fields that only some callers need are parsed on demand. */
export interface LockedRecord extends Known {
  readonly data: Json | undefined;
  reservation(): Reservation;
  /** What each source states; undefined if the record equals the pulled row. */
  readonly views: StoredViews | undefined;
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
  readonly held?: HeldBack;
  readonly contentOf: ContentOf;
}

export const arrivedAt = ({ arrival, seq }: Arriving): Moment => [arrival.effectiveAt, seq];

/** A row of a list that a run reads. Older rows that are processed again show nothing. */
export const isOfList = ({ arrival }: Arriving): boolean => arrival.cause === 'run' && arrival.mode === 'pull';

/** The outcome of a message, decided while its record is locked. */
export type Decision =
  | {
      readonly kind: 'change';
      readonly event: ChangeEvent;
      readonly version: number;
      readonly content: Content;
      readonly state: RecordState;
      readonly diff: readonly Difference[];
      readonly notes: readonly Note[];
      readonly isOverruled?: boolean;
    }
  | {
      readonly kind: 'unchanged' | 'superseded' | 'held';
      readonly version: number;
      readonly reason?: string;
      /** Present if the message changes the stored statements but not the record. */
      readonly state?: RecordState;
      readonly isOverruled?: boolean;
      /** The partner's list shows what it showed before: that it was seen is kept for the whole page, instead of the state. */
      readonly isShown?: boolean;
    }
  | (Extract<Finished, { kind: 'dropped' }> & { readonly state?: RecordState })
  | Extract<Finished, { kind: 'dead' }>;

export const isRuled = (prepared: Prepared): boolean => prepared.kind === 'record' && prepared.isRuled === true;

/** The outcome of a message that makes no record by itself. */
export function droppedOrDead(prepared: Prepared): Exclude<Finished, { kind: 'record' }> {
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

export const newerIsStored = 'A newer state is stored.';

export const stillShown = (sightedAt: Date): string =>
  `The partner's list, requested at ${sightedAt.toISOString()}, still showed the stored state.`;
