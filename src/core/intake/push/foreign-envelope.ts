import { parseStrictJson } from '../../../kit/json.ts';
import { type EpochMs, isObject, type Json, type JsonObject } from '../../../terms.ts';
import {
  at,
  type EnvelopeProblem,
  type EventType,
  findEventId,
  firstText,
  longLists,
  type Nth,
  pointerTo,
  type Scope,
  textOf,
  valueAt,
} from './envelope.ts';
import type { ForeignEnvelope, PushSettings } from './settings.ts';
import type { Headers } from './verification.ts';

/** One event of a body, in our envelope's terms. */
export interface ReadEvent {
  readonly eventId: string;
  readonly event: EventType;
  /** Undefined when the sender states no time. */
  readonly occurredAt: EpochMs | undefined;
  readonly data: JsonObject;
  /** The bytes to store: the sender's, or for a foreign envelope our own envelope around the sender's data. */
  readonly body: Buffer;
}

export type EventsRead =
  | {
      readonly kind: 'ok';
      readonly events: readonly ReadEvent[];
      /** The id in the answer: the first event's when there are several. */
      readonly eventId: string;
      /** How many events of the body the connector ignores. */
      readonly ignored: number;
    }
  | { readonly kind: 'invalid'; readonly problems: readonly EnvelopeProblem[] };

interface ForeignRequest {
  readonly body: Json;
  readonly headers: Headers;
  readonly query?: string | undefined;
  readonly rawBody: Buffer;
}

const maxEvents = 1_000;

type Settings = Pick<PushSettings, 'brandId' | 'eventIdPlaces' | 'isThin'>;

export function readForeign(envelope: ForeignEnvelope, settings: Settings, arrived: ForeignRequest): EventsRead {
  const { headers, query } = arrived;
  const body = envelope.json === undefined ? arrived.body : withJson(arrived.body, envelope.json);
  const arrival = { ...arrived, body };
  const items = envelope.each === undefined ? [body] : at(body, envelope.each);
  if (!Array.isArray(items) || items.length > maxEvents) {
    const detail = `${envelope.each === '$body' ? 'The body' : envelope.each} must be a list of at most ${maxEvents} events.`;
    return { kind: 'invalid', problems: [{ pointer: pointerTo(envelope.each ?? '', ''), detail }] };
  }
  const problems: EnvelopeProblem[] = [];
  const events: ReadEvent[] = [];
  for (const [index, item] of items.entries()) {
    const nth =
      envelope.each === undefined ? undefined : { index, pointer: `${pointerTo(envelope.each, '')}/${index}` };
    const read = readOne(envelope, settings, arrival, { item, body, headers, query }, nth);
    if (read === 'ignored') continue;
    if (Array.isArray(read)) problems.push(...read);
    else events.push(read as ReadEvent);
  }
  if (problems.length > 0) return { kind: 'invalid', problems };
  const first = events[0]?.eventId ?? statedId(settings, arrival);
  return { kind: 'ok', events, eventId: first, ignored: items.length - events.length };
}

/** The body with the text at the key read as JSON; unchanged if it is not, so that the missing data is named. */
function withJson(body: Json, key: string): Json {
  const text = isObject(body) && Object.hasOwn(body, key) ? body[key] : undefined;
  const read = typeof text === 'string' ? parseStrictJson(Buffer.from(text)) : undefined;
  return isObject(body) && read?.kind === 'ok' ? { ...body, [key]: read.value } : body;
}

function readOne(
  envelope: ForeignEnvelope,
  settings: Settings,
  arrival: ForeignRequest,
  scope: Scope,
  nth: Nth | undefined,
): ReadEvent | EnvelopeProblem[] | 'ignored' {
  const problems: EnvelopeProblem[] = [];
  const refuse = (places: readonly string[], detail: string) => {
    const [place = ''] = places;
    problems.push({ pointer: pointerTo(place, nth?.pointer ?? ''), detail: `${place} ${detail}` });
  };

  // The name first: the rest of an ignored event is not checked.
  const name = envelope.event && nameOf(envelope.event, scope);
  const named = name === undefined ? undefined : envelope.names.get(name.toLowerCase());
  const event = envelope.event === undefined ? 'reservation.updated' : named;
  if (event === undefined) {
    if (name !== undefined && envelope.others === 'ignore') return 'ignored';
    refuse(envelope.event?.places ?? [], name === undefined ? 'is missing.' : 'is not a supported event type.');
  }
  const occurredAt = timeOf(envelope.timestamp, scope);
  if (occurredAt === 'missing') refuse(envelope.timestamp?.places ?? [], 'is missing.');
  if (occurredAt === 'wrong')
    refuse(envelope.timestamp?.places ?? [], `must be ${formats[envelope.timestamp?.format ?? 'iso']}.`);
  const brand = envelope.brand && firstText(scope, envelope.brand.places)?.text;
  if (envelope.brand && brand === undefined && !envelope.brand.optional) refuse(envelope.brand.places, 'is missing.');
  if (brand !== undefined && brand !== settings.brandId) {
    refuse(envelope.brand?.places ?? [], 'is not the brand that this endpoint was issued for.');
  }
  const data = dataOf(envelope.data, scope);
  const dataPlaces = 'id' in envelope.data ? [envelope.data.id] : envelope.data;
  if (data === undefined)
    refuse(dataPlaces, 'id' in envelope.data ? 'must be a text or a number.' : 'must be an object.');
  else problems.push(...longLists(data, pointerTo(dataPlaces[0] ?? '', nth?.pointer ?? '')));
  // The bytes of two changes of one reservation are equal if an event has neither an id nor a time.
  const isRepeatable = settings.isThin && typeof occurredAt !== 'number';
  // Nor do equal bodies at two addresses that name different events.
  const isByAddress = envelope.event?.places.some((place) => place.startsWith('query.')) === true;
  const digested = isByAddress ? Buffer.concat([Buffer.from(`${name} `), arrival.rawBody]) : arrival.rawBody;
  const id = findEventId(settings.eventIdPlaces, scope, isRepeatable ? undefined : digested, nth);
  if (id.kind === 'invalid') problems.push(id);

  if (problems.length > 0 || event === undefined || data === undefined || id.kind === 'invalid') return problems;
  const at = typeof occurredAt === 'number' ? occurredAt : undefined;
  // The receipt time is left out: a retry must produce the same bytes.
  const stated = {
    event,
    ...(at !== undefined && { timestamp: new Date(at).toISOString() }),
    brand_id: settings.brandId,
  };
  const body = Buffer.from(JSON.stringify({ ...stated, data }));
  return { eventId: id.eventId, event, occurredAt: at, data, body };
}

function nameOf({ places, joinedBy }: NonNullable<ForeignEnvelope['event']>, scope: Scope): string | undefined {
  if (joinedBy === undefined) return firstText(scope, places)?.text;
  const parts = places.map((place) => textOf(valueAt(scope, place)));
  return parts.includes(undefined) ? undefined : parts.join(joinedBy);
}

const formats = {
  iso: 'an ISO 8601 date-time with its zone, such as 2026-03-01T09:30:00Z',
  seconds: 'the Unix time in seconds',
  milliseconds: 'the Unix time in milliseconds',
};
/** An earlier time is a placeholder or has another unit. Such an event would be older than all stored data and change nothing. */
const earliest = Date.UTC(2000, 0, 1);
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function timeOf(from: ForeignEnvelope['timestamp'], scope: Scope): EpochMs | 'missing' | 'wrong' | undefined {
  const text = from && firstText(scope, from.places)?.text;
  if (from === undefined || text === undefined) return from === undefined || from.optional ? undefined : 'missing';
  const ms = from.format === 'iso' ? instant(text) : unix(text, from.format === 'seconds' ? 1_000 : 1);
  return ms === undefined || ms < earliest || ms > endOfTime ? 'wrong' : ms;
}

/** Like `latestMoment` of the envelope: a time without a fraction counts as the end of its second, or of its minute. */
function instant(text: string): EpochMs | undefined {
  try {
    const { epochMilliseconds } = Temporal.Instant.from(text);
    if (/[.,]\d/.test(text)) return epochMilliseconds;
    return epochMilliseconds + (/[Tt ]\d\d:?\d\d:?\d\d/.test(text) ? 999 : 59_999);
  } catch {
    return undefined;
  }
}

function unix(text: string, unitMs: number): EpochMs | undefined {
  if (!/^\d{1,15}(?:\.\d+)?$/.test(text)) return undefined;
  return text.includes('.') ? Math.round(Number(text) * unitMs) : Number(text) * unitMs + unitMs - 1;
}

function dataOf(places: ForeignEnvelope['data'], scope: Scope): JsonObject | undefined {
  if ('id' in places) {
    const id = textOf(valueAt(scope, places.id));
    return id === undefined ? undefined : { id };
  }
  for (const place of places) {
    const value = valueAt(scope, place);
    if (isObject(value)) return value;
  }
  return undefined;
}

/** The event id in the answer to a body in which every event was ignored, or would be refused; nothing is stored. */
export function statedId(
  { eventIdPlaces }: Pick<PushSettings, 'eventIdPlaces'>,
  { body, headers, rawBody }: ForeignRequest,
): string {
  const id = findEventId(eventIdPlaces, { item: body, body, headers }, rawBody);
  return id.kind === 'ok' ? id.eventId : '';
}
