import type { Connector } from '../documents/connector.ts';
import type { EnvelopeDocument } from '../documents/connector-envelope.ts';
import { readForeign } from '../intake/push/foreign-envelope.ts';
import { at } from '../intake/push/place.ts';
import type { ForeignEnvelope } from '../intake/push/ports.ts';
import { type EventContent, prepareEvent } from '../intake/push/reservation-event.ts';
import type { Arrival, Prepared } from '../reconcile/incoming.ts';
import type { Path } from '../runtime/compile-path.ts';
import { thinId } from '../runtime/event-path.ts';
import { foreignEnvelope } from '../runtime/push-settings.ts';
import { isObject, type Json } from '../terms.ts';

export type SampleEvent =
  | { readonly kind: 'ok'; readonly event: EventContent }
  | { readonly kind: 'thin'; readonly message: string; readonly id: string }
  | { readonly kind: 'invalid'; readonly code: 'push.bad_envelope'; readonly message: string };

/**
 * The event of a sample: the first one of a whole body, or the data of an event alone. Time and brand do not matter. A body with the
 * sender's list of events, or with its data, is refused as the endpoint would refuse it.
 */
export function sampleEvent({ push }: Connector, sample: Json): SampleEvent {
  const read = eventIn(push?.envelope, sample);
  const id = read.kind === 'ok' && push?.thin ? thinId(push.thin.id, read.event.data) : undefined;
  if (id === undefined) return read;
  const message = 'The event names a reservation, which pull.single then requests. Map its answer with --single.';
  return { kind: 'thin', id, message };
}

function eventIn(document: EnvelopeDocument | undefined, sample: Json): Exclude<SampleEvent, { kind: 'thin' }> {
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

/** Processes a sample event as a real one: a cancellation has its final status by the event itself. */
export function prepareSampleEvent(path: Path, { event, data }: EventContent, arrival: Arrival): Prepared {
  return prepareEvent(
    {
      idOf: (id) => id,
      record: (found) => path.pushShaper.single(found),
      hydratedRecord: (found) => path.singleShaper.single(found),
      prepare: path.prepare,
      amend: path.amend,
    },
    { event, data },
    arrival,
  );
}
