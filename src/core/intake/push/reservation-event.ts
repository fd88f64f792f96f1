import type { ErrorCode } from '../../../errors.ts';
import { parseJson } from '../../../kit/json.ts';
import type { EntityType, Json, JsonObject } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import { noteOf } from '../../canonical/notes.ts';
import type { Connector } from '../../documents/connector.ts';
import { idOf } from '../../pipeline/id-prefix.ts';
import { amend, read } from '../../pipeline.ts';
import type { ReportingDestination } from '../../reconcile/content.ts';
import type { Receipt, Statement } from '../../reconcile/forms.ts';
import type { Adjust } from '../../shape/draft.ts';
import type { PendingEvent } from './brand-batch.ts';
import { type EventType, textAt } from './envelope.ts';

/** The data of a stored event, which was validated when it was accepted. */
export function dataOf(event: PendingEvent): JsonObject {
  return (parseJson(event.body.toString('utf8')) as { data: JsonObject }).data;
}

/** A timestamp in the future would supersede every later state, so the effective time is never later than the receipt. */
export function arrivalOf(event: PendingEvent, cause: 'event' | 'guest' = 'event', by?: ReportingDestination): Receipt {
  const effectiveAt = event.hydrated?.requestedAt ?? Math.min(event.occurredAt, event.receivedAt);
  const trace = event.trace === undefined ? undefined : { trace: event.trace };
  const mode = event.hydrated ? 'single' : 'push';
  const { seq, receivedAt } = event;
  return { mode, effectiveAt, receivedAt, cause, causeId: String(seq), seq, ...(by && { by }), ...trace };
}

/** The content of an event: its data, or the reservation that was fetched for it. Used for new events and for replays. */
export interface EventContent {
  readonly event: EventType;
  readonly data: Json;
  /** Null if the reservation is cancelled and the partner no longer has it. */
  readonly hydrated?: Json;
}

export function contentOf(event: PendingEvent, data = dataOf(event)): EventContent {
  const hydrated = event.hydrated && (parseJson(event.hydrated.body.toString('utf8')) as Json);
  return { event: event.event, data, ...(hydrated !== undefined && { hydrated }) };
}

/** What a reservation event says. */
export function readEvent(
  brand: Parameters<typeof read>[0] & Pick<Brand, 'connector'>,
  { event, data, hydrated }: EventContent,
  arrival: Receipt,
): Statement {
  if (hydrated === null) return bareCancellation(brand, event, data, arrival);
  const shaped = hydrated === undefined ? brand.shapers.push.single(data) : brand.shapers.single.single(hydrated);
  if (shaped.kind === 'invalid') return deadEvent(arrival, shaped, data);
  const { record } = shaped;
  if (record.key === '') {
    const message = 'The event contains no reservation id.';
    return deadEvent(arrival, { code: 'push.no_reservation_id', message }, data);
  }
  const isCancelled = hydrated === undefined && event === 'reservation.cancelled';
  return read(brand, record, arrival, isCancelled ? cancelled : undefined);
}

/** Changes only the status of a stored reservation; without one it is a dead letter. */
function bareCancellation(
  brand: Pick<Brand, 'connector' | 'idPrefix'>,
  event: EventType,
  data: Json,
  arrival: Receipt,
): Statement {
  const id = idOf(thinIdOf(brand, 'reservation', data) ?? '', brand.idPrefix);
  const message = 'The partner’s API does not know the reservation, and it is not stored.';
  const { failure } = deadEvent(arrival, { code: 'push.not_hydrated', message }, data, {
    id,
    detail: { reason: 'absent' },
  });
  const absent = 'the partner’s API no longer has the reservation';
  const reason =
    event === 'reservation.cancelled'
      ? `The event is reservation.cancelled, and ${absent}.`
      : `The event says that it changed, ${absent}, and the connector treats such a reservation as cancelled (gone: cancelled).`;
  const content = { values: { status: 'cancelled' }, lists: {} };
  const notes = [noteOf('status_from_event', 'status', { reason })];
  return { ...amend({ id, content, raw: null, notes }, arrival), failure };
}

/** A payload without a status, with the old one or with an unknown spelling becomes cancelled: the event type is enough. */
const cancelled: Adjust = (record) => {
  if (record.status === 'cancelled' || record.status === 'no_show') return { record, notes: [] };
  return { record: { ...record, status: 'cancelled' }, notes: [noteOf('status_from_event', 'status')] };
};

export type DeadEvent = Statement & { readonly failure: NonNullable<Statement['failure']> };

export function deadEvent(
  receipt: Receipt,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
  raw: Json,
  more: { detail?: Json; type?: 'reservation' | 'guest'; id?: string } = {},
): DeadEvent {
  const { detail = {}, type = 'reservation', id } = more;
  const failure = { kind: 'event' as const, type, code, message, detail, raw, ...(id !== undefined && { id }) };
  return {
    type,
    id: id ?? '',
    receipt,
    source: receipt.mode,
    scope: { fields: 'partial', lists: 'partial' },
    failure,
    raw: { key: id ?? '', value: raw },
    notes: [],
  };
}

type ThinId = NonNullable<NonNullable<Connector['push']>['thin']>['id'];

/** The id that a thin event names, whose record is then fetched from the partner; undefined if the event is not thin. */
export function thinIdOf({ connector }: Pick<Brand, 'connector'>, type: EntityType, data: Json): string | undefined {
  const thin = connector.body.push?.thin;
  if (thin === undefined) return undefined;
  if (type === 'guest') return thin.guest && textAt(data, [thin.guest].flat());
  return thinId(thin.id, data);
}

/** The id that an event names; undefined if it names none. */
export function thinId(from: ThinId, data: Json): string | undefined {
  if (typeof from === 'string' || Array.isArray(from)) return textAt(data, [from].flat());
  const parts = from.join.map((path) => textAt(data, [path]));
  return parts.includes(undefined) ? undefined : parts.join(from.with);
}
