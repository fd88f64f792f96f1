import { parseJson } from '../../../kit/json.ts';
import { isObject, type Json, type JsonObject } from '../../../terms.ts';
import type { EventContent } from '../../intake/push/reservation-event.ts';
import type { RawRecord } from '../../shape/config.ts';

/** What the partner sent for an entry of the history: a row of a list or an answer for one reservation, or an event. */
export type Sent =
  | { readonly kind: 'record'; readonly raw: RawRecord }
  | { readonly kind: 'event'; readonly content: EventContent };

/** A payload with which a source stated something about a reservation. */
export interface KeptPayload {
  readonly id: string;
  readonly mode: 'pull' | 'single' | 'push';
  readonly effectiveAt: Date;
  readonly seq: number;
  readonly sent: Sent;
  /** The documents that it was read with; null for an event that changed nothing. */
  readonly connectorVersion: number | null;
  readonly integrationVersion: number | null;
}

/** The mode of an entry `r` of the history with its event `e`; null if it came from neither a run nor an event. */
export const modeOf = `case r.cause
  when 'run' then case when r.notes::jsonb @> '[["requested_by_id"]]' then 'single' else 'pull' end
  when 'event' then case when e.hydrated_at is null then 'push' else 'single' end end`;

export const eventOf = `left join events e on r.cause in ('event', 'guest') and e.integration = r.integration and e.seq = r.seq
                                          and r.cause_id = e.seq::text`;

/** What the partner sent for an entry `r` with its event `e`: a polled row, or the payload of an event. */
export const payloadColumns = 'r.raw, e.event, e.body, e.hydrated';

export interface Payload {
  readonly raw: Json;
  readonly event: string | null;
  readonly body: Buffer | null;
  readonly hydrated: Buffer | null;
}

/** A raw record as it is stored: its value, or all of it under this key if the mapping reads more than the value. */
export const whole = '$raw';

export function storedRaw({ key, value, ...around }: RawRecord): Json {
  return Object.keys(around).length === 0 ? value : { [whole]: { key, value, ...around } as unknown as JsonObject };
}

function rawOf(stored: Json, key: string): RawRecord {
  const { [whole]: raw } = isObject(stored) ? stored : {};
  return isObject(raw) && typeof raw.key === 'string' ? (raw as unknown as RawRecord) : { key, value: stored };
}

/** Undefined if the payload is not kept any more. */
export function sentOf({ raw, event, body, hydrated }: Payload, id: string): Sent | undefined {
  if (raw !== null) return { kind: 'record', raw: rawOf(raw, id) };
  if (body === null) return undefined;
  const parsed = (bytes: Buffer) => parseJson(bytes.toString('utf8')) as JsonObject;
  const { data = null } = parsed(body);
  const content = { event: event as EventContent['event'], data };
  return { kind: 'event', content: hydrated === null ? content : { ...content, hydrated: parsed(hydrated) } };
}

/** The reservation itself, as a person reads it. */
export function shownOf(sent: Sent | undefined): Json {
  if (sent?.kind === 'record') return sent.raw.value;
  return sent?.content.hydrated ?? sent?.content.data ?? null;
}
