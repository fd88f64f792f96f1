import type { ErrorCode } from '../../errors.ts';
import { parseJson } from '../../kit/json.ts';
import { cancelledStatus } from '../../reconcile/cancelled.ts';
import type { Arrival, Prepared } from '../../reconcile/incoming.ts';
import type { ReportingDestination } from '../../reconcile/statement.ts';
import type { Adjust } from '../../shape/shaper.ts';
import type { Json, JsonObject } from '../../terms.ts';
import type { EventType } from './envelope.ts';
import type { EventPath, PendingEvent } from './event-path.ts';

/** The data of a stored event, which was validated when it was accepted. */
export function dataOf(event: PendingEvent): JsonObject {
  return (parseJson(event.body.toString('utf8')) as { data: JsonObject }).data;
}

/** A timestamp in the future would supersede every later state, so the effective time is never later than the receipt. */
export function arrivalOf(event: PendingEvent, cause: 'event' | 'guest' = 'event', by?: ReportingDestination): Arrival {
  const effectiveAt = event.hydrated?.requestedAt ?? Math.min(event.occurredAt, event.receivedAt);
  const trace = event.trace === undefined ? undefined : { trace: event.trace };
  const mode = event.hydrated ? 'single' : 'push';
  return { mode, effectiveAt, cause, causeId: String(event.seq), seq: event.seq, ...(by && { by }), ...trace };
}

/** Takes a reservation event through the path, up to the merge with the stored record. */
export function prepareReservation(path: EventPath, event: PendingEvent, data: Json): Prepared {
  const hydrated = event.hydrated && parseJson(event.hydrated.body.toString('utf8'));
  return prepareEvent(
    path,
    { event: event.event, data, ...(hydrated !== undefined && { hydrated }) },
    arrivalOf(event),
  );
}

/** The content of an event: its data, or the reservation that was fetched for it. Used for new events and for replays. */
export interface EventContent {
  readonly event: EventType;
  readonly data: Json;
  /** Null if the reservation is cancelled and the partner no longer has it. */
  readonly hydrated?: Json;
}

/** The part of an event path that reservations need. */
type ReservationPath = Pick<EventPath, 'thinId' | 'idOf' | 'record' | 'hydratedRecord' | 'prepare' | 'amend'>;

export function prepareEvent(
  path: ReservationPath,
  { event, data, hydrated }: EventContent,
  arrival: Arrival,
): Prepared {
  if (hydrated === null) return bareCancellation(path, event, data, arrival);
  const shaped = hydrated === undefined ? path.record(data) : path.hydratedRecord(hydrated);
  if (shaped.kind === 'invalid') return deadEvent(arrival, shaped, data);
  const { record } = shaped;
  if (record.key === '') {
    const message = 'The event contains no reservation id.';
    return deadEvent(arrival, { code: 'push.no_reservation_id', message }, data);
  }
  if (hydrated !== undefined) return path.prepare(record, arrival);
  const isCancelled = event === 'reservation.cancelled';
  return path.prepare(record, arrival, isCancelled ? cancelled : undefined);
}

/** Changes only the status of a stored reservation; without one it is a dead letter. */
function bareCancellation(path: ReservationPath, event: EventType, data: Json, arrival: Arrival): Prepared {
  const id = path.idOf(path.thinId?.(data) ?? '');
  const message = 'The partner’s API does not know the reservation, and it is not stored.';
  const dead = deadEvent(arrival, { code: 'push.not_hydrated', message }, data, { id, detail: { reason: 'absent' } });
  const absent = 'the partner’s API no longer has the reservation';
  const reason =
    event === 'reservation.cancelled'
      ? `The event is reservation.cancelled, and ${absent}.`
      : `The event says that it changed, ${absent}, and the connector treats such a reservation as cancelled (gone: cancelled).`;
  const amendment = {
    id,
    says: { values: { status: 'cancelled' }, lists: {} },
    sent: data,
    raw: null,
    notes: [{ step: 'shape', field: 'status', code: 'status_from_event', reason }],
    origins: () => ({}),
  } as const;
  return { ...dead, message: path.amend(amendment, arrival) };
}

const cancelled: Adjust = (record) => {
  const { draft, stated } = cancelledStatus(record);
  const reason = 'The event is reservation.cancelled and its payload has no final status.';
  return {
    record: draft,
    notes: stated ? [] : [{ step: 'shape', field: 'status', code: 'status_from_event', reason }],
  };
};

export type DeadEvent = Extract<Prepared, { kind: 'dead' }>;

export function deadEvent(
  arrival: Arrival,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
  raw: Json,
  more: { detail?: Json; type?: 'reservation' | 'guest'; id?: string } = {},
): DeadEvent {
  const { detail = {}, type = 'reservation', id } = more;
  const deadLetter = { kind: 'event' as const, type, code, message, detail, raw, ...(id !== undefined && { id }) };
  return { kind: 'dead', arrival, deadLetter };
}
