import type { Guest, Reservation } from '../../canonical/reservation.ts';
import type { ErrorCode } from '../../errors.ts';
import type { GuestKey } from '../../persons/identifiers.ts';
import type { Candidate } from '../../persons/profile-match.ts';
import type { Consent } from '../../reconcile/consent-run.ts';
import type { GuestUpdate, RuledGuest } from '../../reconcile/guest-update.ts';
import type { Amendment, Arrival, Message, Prepared, Tally } from '../../reconcile/incoming.ts';
import type { ReportingDestination } from '../../reconcile/statement.ts';
import type { RawRecord } from '../../shape/config.ts';
import type { Adjust } from '../../shape/shaper.ts';
import type { EntityType, EpochMs, Json, LocalDate, Note } from '../../terms.ts';
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

/** How an integration's documents process its events. */
export interface EventPath {
  /** Reads the reservation id of a thin event, whose reservation is then fetched from the partner. */
  readonly thinId?: (data: Json) => string | undefined;
  /** Reads the guest id of a guest event that only names the guest. */
  readonly thinGuestId?: (data: Json) => string | undefined;
  /** The stored id of the partner's id. */
  readonly idOf: (id: string) => string;
  readonly record: (
    data: Json,
  ) => { kind: 'ok'; record: RawRecord } | { kind: 'invalid'; code: ErrorCode; message: string };
  readonly hydratedRecord: EventPath['record'];
  /** Shape to transform. `adjust` corrects the draft by what the event itself says, before the check. */
  readonly prepare: (raw: RawRecord, arrival: Arrival, adjust?: Adjust) => Prepared;
  /** For a stored reservation of which an event changes some fields. */
  readonly amend: (amendment: Amendment, arrival: Arrival) => Message;
  /** An e-mail address as records have it; undefined for a text that is none, and for an alias of a booking site. */
  readonly address: (text: string) => string | undefined;
  /** `isFetched`: the partner's answer to a request for the guest. */
  readonly guest: (data: Json, isFetched?: boolean) => GuestRead;
  /** The business rules over a profile that has been merged with the update. */
  readonly profile: (merged: Guest, update: GuestUpdate) => RuledGuest;
  readonly today: (at: EpochMs) => LocalDate;
  /** The other brands that deliver to a destination. */
  readonly othersAt: (destination: string) => readonly string[];
}

export interface ReadGuest {
  readonly update: GuestUpdate;
  readonly notes: readonly Note[];
}

export type GuestRead =
  /** Several when `data` is a whole reservation. */
  | { readonly kind: 'ok'; readonly updates: readonly ReadGuest[] }
  | { readonly kind: 'invalid'; readonly code: ErrorCode; readonly message: string; readonly detail: Json };

/** A batch of one integration's events, inside the transaction that also settles them. */
export interface BrandBatch {
  readonly events: readonly PendingEvent[];
  apply(prepared: readonly Prepared[]): Promise<Tally>;
  profiles(keys: readonly GuestKey[]): Promise<readonly Candidate[]>;
  /** The id for a new profile of this guest; undefined if nothing could find the profile again. */
  newProfileId(guest: Guest): Promise<string | undefined>;
  /** The id under which a reservation is stored. */
  storedId(id: string): Promise<string>;
  /** The reservation of this id, if its stay is not over; not locked. */
  reservation(id: string): Promise<Reservation | undefined>;
  /** The reservations of guests with one of these keys, and the named one, locked. */
  reservationsOf(keys: readonly GuestKey[], named: string | undefined): Promise<readonly Reservation[]>;
  /** What stored reservations state about the marketing consent of guests with one of these keys; undefined if there is no such guest. */
  consentOf(keys: readonly GuestKey[]): Promise<{ readonly consent: Consent | undefined } | undefined>;
  /** Whether a guest with one of these keys refuses at one of these brands, by another statement than that of `by`. */
  isRefusedAt(brands: readonly string[], keys: readonly GuestKey[], by: ReportingDestination): Promise<boolean>;
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
