import type { EntityType, EpochMs } from '../../../terms.ts';
import type { Guest, Reservation } from '../../canonical/reservation.ts';
import type { GuestKey } from '../../persons/identifiers.ts';
import type { Candidate } from '../../persons/profile-match.ts';
import type { Consent } from '../../reconcile/consent.ts';
import type { ReportingDestination } from '../../reconcile/content.ts';
import type { Statement, Summary } from '../../reconcile/forms.ts';
import type { EventType } from './envelope.ts';

/** An accepted event that has not been processed yet. */
export interface PendingEvent {
  readonly seq: number;
  readonly event: EventType;
  readonly occurredAt: EpochMs;
  readonly receivedAt: EpochMs;
  readonly body: Buffer;
  readonly attempt: number;
  /** The reservation or guest fetched from the partner's API, for an event that carried only its id. */
  readonly hydrated?: { readonly body: Buffer; readonly requestedAt: EpochMs };
  /** W3C traceparent, see NewEvent. */
  readonly trace?: string;
}

/** A batch of one integration's events, inside the transaction that also settles them. */
export interface BrandBatch {
  readonly events: readonly PendingEvent[];
  take(statements: readonly Statement[]): Promise<Summary>;
  profiles(keys: readonly GuestKey[]): Promise<readonly Candidate[]>;
  /** The id for a new profile of this guest; undefined if nothing could find the profile again. */
  newProfileId(guest: Guest): Promise<string | undefined>;
  /** The id under which a reservation is stored. */
  storedId(id: string): Promise<string>;
  /** The reservation of this id, if its stay is not over; not locked. */
  reservation(id: string): Promise<Reservation | undefined>;
  /** The reservations of guests with one of these keys, and the named one, locked; those that are over only if they are asked for. */
  reservationsOf(
    keys: readonly GuestKey[],
    named: string | undefined,
    withPast: boolean,
  ): Promise<readonly Reservation[]>;
  /** What stored reservations state about the marketing consent of guests with one of these keys; undefined if there is no such guest. */
  consentOf(keys: readonly GuestKey[]): Promise<{ readonly consent: Consent | undefined } | undefined>;
  /** Whether a guest with one of these keys refuses at one of these brands, by another statement than that of `by`. */
  isRefusedAt(brands: readonly string[], keys: readonly GuestKey[], by: ReportingDestination): Promise<boolean>;
  /** The other brands that deliver to a destination. */
  othersAt(destination: string): readonly string[];
  /** Which profiles come from the guest lists of these reservations. */
  bookings(reservations: readonly string[]): Promise<{ has(reservation: string, profile: string): boolean }>;
}

/** The result of processing one event. */
export type Settled =
  | {
      readonly seq: number;
      readonly state: 'done' | 'dead';
      readonly outcome: string;
      readonly reason?: string;
      readonly type: 'reservation' | 'guest';
      readonly id?: string;
      readonly version?: number;
    }
  /** The record must be fetched from the partner's API first. */
  | { readonly seq: number; readonly state: 'hydrate'; readonly type: EntityType; readonly id: string };
