import type { Connector } from '../documents/connector.ts';
import { readForeign } from '../intake/push/foreign-envelope.ts';
import { type EventContent, prepareEvent } from '../intake/push/reservation-event.ts';
import { cancelledStatus } from '../reconcile/cancelled.ts';
import type { Arrival, Prepared } from '../reconcile/incoming.ts';
import type { Path } from '../runtime/compile-path.ts';
import { foreignEnvelope } from '../runtime/push-settings.ts';
import { isObject, type Json } from '../terms.ts';

/** The event of a sample: the first one of a whole body, or the data of an event alone. Time and brand do not matter. */
export function sampleEvent({ push }: Connector, sample: Json): EventContent {
  if (push?.envelope !== undefined) {
    const envelope = { ...foreignEnvelope(push.envelope), timestamp: undefined, brand: undefined };
    const arrival = { body: sample, headers: {}, rawBody: Buffer.from(JSON.stringify(sample)) };
    const read = readForeign(envelope, { brandId: '', eventIdPlaces: undefined }, arrival);
    const [first] = read.kind === 'ok' ? read.events : [];
    if (first !== undefined) return first;
  }
  if (!isObject(sample) || !isObject(sample.data)) return { event: 'reservation.updated', data: sample };
  const isCancelled = sample.event === 'reservation.cancelled';
  return { event: isCancelled ? 'reservation.cancelled' : 'reservation.updated', data: sample.data };
}

/** Processes a sample event as a real one: a cancellation has its final status by the event itself. */
export function prepareSampleEvent(path: Path, { event, data }: EventContent, arrival: Arrival): Prepared {
  return prepareEvent(
    {
      record: (found) => path.pushShaper.single(found),
      hydratedRecord: (found) => path.singleShaper.single(found),
      prepare: path.prepare,
      amend: path.amend,
      identity: { cancelled: cancelledStatus },
    },
    { event, data },
    arrival,
  );
}
