import type { Guest, Reservation } from '../../canonical/reservation.ts';
import type { ErrorCode } from '../../errors.ts';
import type { Candidate, GuestKey } from '../../reconcile/guest-match.ts';
import type { GuestPlan, GuestUpdate } from '../../reconcile/guest-update.ts';
import type { Arrival, Prepared, Tally } from '../../reconcile/incoming.ts';
import type { RawRecord } from '../../shape/config.ts';
import type { EpochMs, Json, LocalDate, Note } from '../../terms.ts';
import type { EventType } from './envelope.ts';

/** An event as it waits in the store. */
export interface PendingEvent {
  readonly seq: number;
  readonly event: EventType;
  readonly occurredAt: EpochMs;
  readonly receivedAt: EpochMs;
  readonly body: Buffer;
  readonly attempt: number;
  /** The reservation as the partner's API gave it, for an event that only named it. */
  readonly hydrated?: { readonly body: Buffer; readonly requestedAt: EpochMs };
}

/** What an integration's documents say about its events; compiled by the wiring. */
export interface EventPath {
  /** Absent keys keep the stored value. */
  readonly partial: boolean;
  /** Where `data` names the reservation, for events that carry nothing else; it is fetched from the partner then. */
  readonly thinId?: (data: Json) => string | undefined;
  readonly record: (
    data: Json,
  ) => { kind: 'ok'; record: RawRecord } | { kind: 'invalid'; code: ErrorCode; message: string };
  readonly hydratedRecord: EventPath['record'];
  /** Shape to transform. `complete` may fill in what the event leaves open, before the record is checked. */
  readonly prepare: (raw: RawRecord, arrival: Arrival, complete?: Complete) => Prepared;
  readonly guest: (data: Json) => GuestRead;
  readonly today: (at: EpochMs) => LocalDate;
  readonly identity: GuestIdentity;
}

/** What shape found, and which of the top-level fields were sent at all. */
type DraftValues = { [field: string]: Json | undefined };
export type Complete = (
  record: DraftValues,
  present: ReadonlySet<string>,
) => { record: DraftValues; notes: readonly Note[] };

export type GuestRead =
  | { readonly kind: 'ok'; readonly update: GuestUpdate; readonly notes: readonly Note[] }
  | { readonly kind: 'invalid'; readonly code: ErrorCode; readonly message: string; readonly detail: Json };

/** The decisions about who a guest is, and what an event leaves as it was; pure, in the room that decides. */
export interface GuestIdentity {
  readonly keys: (guest: Guest) => readonly GuestKey[];
  readonly newId: (guest: Guest) => string | undefined;
  readonly planProfile: (update: GuestUpdate, profiles: readonly Candidate[]) => Omit<GuestPlan, 'reservations'>;
  readonly planReservations: (
    update: GuestUpdate,
    knownAs: Guest | undefined,
    reservations: readonly Reservation[],
    today: LocalDate,
  ) => GuestPlan['reservations'];
  readonly complete: (record: DraftValues, present: ReadonlySet<string>, known: Reservation | undefined) => DraftValues;
  readonly cancelled: (record: DraftValues) => { readonly draft: DraftValues; readonly stated: boolean };
}

/** A batch of one integration's events, inside the one transaction that also marks them as done. */
export interface Lane {
  readonly events: readonly PendingEvent[];
  apply(prepared: readonly Prepared[]): Promise<Tally>;
  /** The stored reservations of these ids, locked. */
  reservations(ids: readonly string[]): Promise<ReadonlyMap<string, Reservation>>;
  profiles(keys: readonly GuestKey[]): Promise<readonly Candidate[]>;
  /** Reservations in which a guest with one of these keys stands, locked; and the one that is named. */
  reservationsOf(keys: readonly GuestKey[], named: string | undefined): Promise<readonly Reservation[]>;
}

/** What became of an event. */
export type Settled =
  | {
      readonly seq: number;
      readonly state: 'done' | 'dead';
      readonly outcome: string;
      readonly type: 'reservation' | 'guest';
      readonly id?: string;
      readonly version?: number;
    }
  /** The partner's API must be asked first. */
  | { readonly seq: number; readonly state: 'hydrate'; readonly id: string };
