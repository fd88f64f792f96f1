import type { Plan } from '../../core/brand/compile.ts';
import type { Connector } from '../../core/documents/connector.ts';
import type { EnvelopeDocument } from '../../core/documents/connector-events.ts';
import { schemas } from '../../core/documents/kinds.ts';
import { at } from '../../core/intake/push/envelope.ts';
import { readForeign } from '../../core/intake/push/foreign-envelope.ts';
import { type EventContent, readEvent, thinId } from '../../core/intake/push/reservation-event.ts';
import { eventIdPlaces, type ForeignEnvelope, foreignEnvelope } from '../../core/intake/push/settings.ts';
import { readMessage } from '../../core/intake/stream/message.ts';
import type { Receipt, Statement } from '../../core/reconcile/forms.ts';
import { parseJson } from '../../kit/json.ts';

import { type IntegrationName, isObject, type Json, type JsonObject } from '../../terms.ts';

type SampleEvent =
  | { readonly kind: 'ok'; readonly event: EventContent; readonly about?: string }
  | { readonly kind: 'thin'; readonly message: string; readonly id: string }
  | { readonly kind: 'invalid'; readonly code: 'push.bad_envelope'; readonly message: string };
type Described<Section extends 'push' | 'stream'> = NonNullable<Connector[Section]>;
type Read = Exclude<SampleEvent, { kind: 'thin' }>;

/**
 * The event of a sample: the first one of a whole body, or the data of an event alone. Time and brand do not matter. A body with the
 * sender's list of events, or with its data, is refused as the endpoint would refuse it.
 */
export function sampleEvent({ push, stream }: Connector, sample: Json): SampleEvent {
  const message = isObject(sample) && isObject(sample.payload) ? sample.payload : sample;
  const isMessage = isObject(message) && isObject(message.data);
  const read =
    stream && push?.envelope && isMessage
      ? eventOf(stream, push, foreignEnvelope(push.envelope), message)
      : eventIn(push?.envelope, sample);
  const id = read.kind === 'ok' && push?.thin ? thinId(push.thin.id, read.event.data) : undefined;
  if (id === undefined || read.kind === 'invalid') return read;
  const then = 'names a reservation, which pull.single then requests. Map its answer with --single.';
  return { kind: 'thin', id, message: `${read.about ?? 'The event'} ${then}` };
}

/** The event of a stream's message, as the stream's reader reads it for the brand that it names. */
function eventOf(stream: Described<'stream'>, push: Described<'push'>, envelope: ForeignEnvelope, message: Json): Read {
  const { thin } = push;
  let property = '';
  const get = (brandId: string) => {
    property = brandId;
    const settings = { brandId, envelope, eventIdPlaces: eventIdPlaces({ push }), isThin: thin !== undefined };
    return { integration: '' as IntegrationName, settings };
  };
  const places = { eventPath: stream.event, offsetPath: stream.offset, brandPlaces: envelope.brand?.places ?? [] };
  const { event: received, refused } = readMessage({ ...places, brands: { get } }, message);
  if (received === undefined || refused !== undefined) {
    const why = refused?.reason ?? 'push.envelope ignores the event: `names` does not list it';
    return { kind: 'invalid', code: 'push.bad_envelope', message: `${why}.` };
  }
  const { event, eventId, rawBody } = received;
  const { data } = parseJson(rawBody.toString()) as { readonly data: JsonObject };
  return { kind: 'ok', event: { event, data }, about: `${event} ${eventId} of the property ${property}` };
}

function eventIn(document: EnvelopeDocument | undefined, sample: Json): Read {
  if (document !== undefined) {
    const envelope = { ...foreignEnvelope(document), timestamp: undefined, brand: undefined };
    const arrival = { body: sample, headers: {}, rawBody: Buffer.from(JSON.stringify(sample)) };
    const read = readForeign(envelope, { brandId: '', eventIdPlaces: undefined, isThin: false }, arrival);
    const [first] = read.kind === 'ok' ? read.events : [];
    if (first !== undefined) return { kind: 'ok', event: first };
    if (read.kind === 'invalid' && isWhole(envelope, sample)) {
      const problems = read.problems.map(({ pointer, detail }) => `${pointer}: ${detail}`);
      return { kind: 'invalid', code: 'push.bad_envelope', message: problems.join(' ') };
    }
  }
  if (!isObject(sample) || !isObject(sample.data))
    return { kind: 'ok', event: { event: 'reservation.updated', data: sample } };
  const isCancelled = sample.event === 'reservation.cancelled';
  const event = isCancelled ? 'reservation.cancelled' : 'reservation.updated';
  return { kind: 'ok', event: { event, data: sample.data } };
}

/** Whether a sample is a body with an envelope. An event that is its own data cannot be told from data alone. */
function isWhole({ each, data }: ForeignEnvelope, sample: Json): boolean {
  if (each !== undefined) return Array.isArray(at(sample, each));
  return Array.isArray(data) && data.some((place) => place !== '$item' && isObject(at(sample, place)));
}

/** What a sample event says, like a real one: a cancellation has its final status by the event itself. */
export function stateSampleEvent(path: Plan, { event, data }: EventContent, arrival: Receipt): Statement {
  return readEvent({ ...path, connector: noThinEvents, idPrefix: undefined }, { event, data }, arrival);
}

const noThinEvents = { name: '', version: 0, body: schemas.connector.parse({ connector: 'none' }) };
