import { hash } from 'node:crypto';
import { randomId } from '../../../kit/ids.ts';
import { type EpochMs, isObject, type Json, type JsonObject } from '../../../terms.ts';
import { mostItems } from '../../canonical/field-check.ts';
import { isLocalDate, isRealDate, twoDigits } from '../../canonical/values.ts';
import { parseAnswerPath, pathReader } from '../../json-path/read.ts';
import type { Headers } from './verification.ts';

export const eventTypes = [
  'reservation.created',
  'reservation.updated',
  'reservation.cancelled',
  'guest.updated',
] as const;
/** `guest.feedback` is our own: what a destination reports about a guest. No sender can send it. */
export type EventType = (typeof eventTypes)[number] | 'guest.feedback';

export interface Envelope {
  readonly event: EventType;
  readonly occurredAt: EpochMs;
  readonly data: JsonObject;
}

type EnvelopeResult =
  | { readonly kind: 'ok'; readonly envelope: Envelope }
  | { readonly kind: 'invalid'; readonly problems: readonly EnvelopeProblem[] };

/** Reports every problem at once, so that a sender can correct its envelope in one step. */
export function readEnvelope(body: Json, brandId: string): EnvelopeResult {
  if (!isObject(body)) return { kind: 'invalid', problems: [{ pointer: '', detail: 'The body must be an object.' }] };
  const problems: EnvelopeProblem[] = [];
  const refuse = (name: string, detail: string) => {
    problems.push({ pointer: `/${name}`, detail: Object.hasOwn(body, name) ? detail : `${name} is missing.` });
  };

  const { event, timestamp, brand_id, data } = body;
  if (!isEventType(event)) refuse('event', `event must be one of ${eventTypes.join(', ')}.`);
  const occurredAt = typeof timestamp === 'string' ? latestMoment(timestamp) : undefined;
  if (occurredAt === undefined) {
    refuse('timestamp', 'timestamp must be an ISO 8601 date-time in UTC, such as 2026-03-01T09:30:00Z.');
  }
  if (typeof brand_id !== 'string' || brand_id === '') refuse('brand_id', 'brand_id must be a non-empty string.');
  else if (brand_id !== brandId) refuse('brand_id', 'brand_id is not the brand that this endpoint was issued for.');
  if (!isObject(data)) refuse('data', 'data must be an object.');
  else problems.push(...longLists(data, '/data'));

  if (problems.length > 0 || !isEventType(event) || occurredAt === undefined || !isObject(data)) {
    return { kind: 'invalid', problems };
  }
  return { kind: 'ok', envelope: { event, occurredAt, data } };
}

function isEventType(value: Json | undefined): value is (typeof eventTypes)[number] {
  return typeof value === 'string' && (eventTypes as readonly string[]).includes(value);
}

const utcForm =
  /^(\d{4})-(\d{2})-(\d{2})[Tt]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:[.,](\d{1,9}))?)?(?:[Zz]|[+-]00:?00)$/;

/**
 * The last moment that a timestamp can mean. 09:30:00Z is any moment of that second: read as its start, an event would lose against a page
 * that was requested earlier in the same second. The receipt still limits it, so the order of such events stays their order of arrival.
 */
export function latestMoment(text: string): EpochMs | undefined {
  const start = utcInstant(text);
  if (start === undefined || text[19] === '.' || text[19] === ',') return start;
  return start - (start % 1000) + (text[16] === ':' ? 999 : 59_999);
}

/** Milliseconds of a UTC date-time that exists; a leap second is the last moment of its minute. */
export function utcInstant(text: string): EpochMs | undefined {
  return usualInstant(text) ?? anyInstant(text);
}

/**
 * The two forms that most senders use, such as 2026-03-01T09:30:00Z and 2026-03-01T09:30:00.123Z. A regular expression or Date.parse takes
 * 5 µs for a text that was just read, this half a microsecond (2 cores arm64).
 */
function usualInstant(text: string): EpochMs | undefined {
  const { length } = text;
  const isForm =
    (length === 20 || (length === 24 && text[19] === '.')) &&
    text[10] === 'T' &&
    text[13] === ':' &&
    text[16] === ':' &&
    text[length - 1] === 'Z';
  if (!isForm || text[4] !== '-' || text[7] !== '-') return undefined;
  const [century, rest] = [twoDigits(text, 0), twoDigits(text, 2)];
  const year = century * 100 + rest;
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)];
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  const [tenths, last] = length === 20 ? [0, 0] : [twoDigits(text, 20), twoDigits(text, 21)];
  const isRead = Math.min(century, rest, hour, minute, second, tenths, last) >= 0;
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  if (!isRead || hour > 23 || minute > 59 || second > 59 || year < 1000 || !isRealDate(year, month, day))
    return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second, tenths * 10 + (last % 10));
}

function anyInstant(text: string): EpochMs | undefined {
  const match = utcForm.exec(text);
  if (!match || !isLocalDate(text.slice(0, 10))) return undefined;
  const [, year, month, day, hour, minute, seconds = '0', fraction = '0'] = match;
  // setUTCFullYear because Date.UTC reads the years 0 to 99 as 1900 to 1999.
  const date = new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const start = date + (Number(hour) * 60 + Number(minute)) * 60_000;
  if (seconds === '60') return start + 59_999;
  return start + Number(seconds) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

/** One fault of an envelope. The pointer (RFC 6901) names a field; the payload is never quoted. */
export interface EnvelopeProblem {
  readonly pointer: string;
  readonly detail: string;
}

/**
 * How many elements the lists of one reservation may have. Comparing guests and rooms with the stored ones takes processor
 * time, so one event must not contain thousands of them. The largest group bookings we know have some 300 guests.
 */
const listLimits: ReadonlyMap<string, number> = new Map([...Object.entries(mostItems), ['stays', mostItems.rooms]]);
/** For lists with other names, which a connector may map to any of the above. */
const otherListLimit = mostItems.charges;

/** Every list in an event's data that is too long. `above` is the pointer of the data in its body. */
export function longLists(data: Json, above: string): readonly EnvelopeProblem[] {
  const problems: EnvelopeProblem[] = [];
  const open: { readonly value: Json; readonly name: string | undefined }[] = [{ value: data, name: undefined }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, name } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) {
      for (const [key, inner] of Object.entries(value)) open.push({ value: inner as Json, name: key });
      continue;
    }
    const known = name !== undefined && listLimits.has(name) ? name : undefined;
    const limit = (known !== undefined && listLimits.get(known)) || otherListLimit;
    if (value.length > limit) {
      // The pointer names only known fields: other keys may contain guest data.
      const pointer =
        known !== undefined && (data as { [key: string]: Json })[known] === value ? `${above}/${known}` : above;
      problems.push({
        pointer,
        detail: `${known ?? 'A list'} has ${value.length} elements; at most ${limit} are accepted.`,
      });
      continue;
    }
    for (const inner of value) open.push({ value: inner, name: undefined });
  }
  return problems;
}

type EventIdResult =
  | { readonly kind: 'ok'; readonly eventId: string }
  | { readonly kind: 'invalid'; readonly pointer: string; readonly detail: string };

/** Longer ids are a sender's mistake and would not fit into the index. */
const maxLength = 256;

/** The position of an event in a body that holds several. */
export interface Nth {
  readonly index: number;
  readonly pointer: string;
}

/**
 * The id by which repeated events are deduplicated: the first place that holds one, else a digest of the raw body, so that a
 * retry with the same bytes is recognised. Without any places, or without a raw body to digest, equal bodies are different events and
 * each gets a new id.
 * Events that share an id because they came in one body get their position appended.
 */
export function findEventId(
  places: readonly string[] | undefined,
  scope: Scope,
  rawBody: Buffer | undefined,
  nth?: Nth,
): EventIdResult {
  if (places === undefined) return { kind: 'ok', eventId: randomId('evt') };
  const named = firstText(scope, places);
  const shared = named === undefined || /^(?:header|\$body)\./.test(named.place);
  const id = named?.text ?? (rawBody && `sha256:${hash('sha256', rawBody)}`);
  if (id === undefined) return { kind: 'ok', eventId: randomId('evt') };
  const eventId = nth !== undefined && shared ? `${id}/${nth.index}` : id;
  if (eventId.length <= maxLength) return { kind: 'ok', eventId };
  const pointer = named === undefined ? '' : pointerTo(named.place, nth?.pointer ?? '');
  return { kind: 'invalid', pointer, detail: `The event id is longer than ${maxLength} characters.` };
}

/** Where places are looked up: an event, the body that contains it (equal when a body is one event), and the headers. */
export interface Scope {
  readonly item: Json;
  readonly body: Json;
  readonly headers: Headers;
  readonly query?: string | undefined;
}

/** A place is a path in the event, $body.PATH, header.NAME, query.NAME, or $item for the event itself. */
export function valueAt({ item, body, headers, query }: Scope, place: string): Json | undefined {
  if (place === '$item') return item;
  if (place.startsWith('header.')) {
    const value = headers[place.slice(7).toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  }
  const value = at(place.startsWith('$body.') ? body : item, place);
  if (value !== undefined || !place.startsWith('query.')) return value;
  return new URLSearchParams(query).get(place.slice(6)) ?? undefined;
}

/** A non-blank string, or a number as a string. */
export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The first of several places that holds a text. */
export function firstText(scope: Scope, places: readonly string[]): { text: string; place: string } | undefined {
  for (const place of places) {
    const text = textOf(valueAt(scope, place));
    if (text !== undefined) return { text, place };
  }
  return undefined;
}

/** The first text or number at one of the dotted paths, as text. */
export function textAt(body: Json, paths: readonly string[]): string | undefined {
  return firstText({ item: body, body, headers: {} }, paths)?.text;
}

/** An RFC 6901 pointer; `above` is the pointer of the event in its body. Headers have no pointer. */
export function pointerTo(place: string, above: string): string {
  if (place.startsWith('header.')) return '';
  if (place === '$item') return above;
  const parsed = parseAnswerPath(place);
  const { start, steps } = parsed.kind === 'ok' ? parsed.path : { start: 'item', steps: [] };
  const keys = steps.map((step) => (step.kind === 'key' ? step.key : step.kind === 'index' ? String(step.index) : ''));
  const escaped = keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1'));
  return [start === 'body' ? '' : above, ...escaped].join('/');
}

/** Places come from connectors, so there are few. */
const readers = new Map<string, (body: Json) => Json | undefined>();

export function at(body: Json, path: string): Json | undefined {
  let read = readers.get(path);
  if (read === undefined) {
    read = pathReader(path);
    readers.set(path, read);
  }
  return read(body);
}
