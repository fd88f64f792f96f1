import { prepareEvent } from '../intake/push/reservation-event.ts';
import { cancelledStatus } from '../reconcile/cancelled.ts';
import type { Arrival, Prepared } from '../reconcile/incoming.ts';
import type { Path } from '../runtime/compile-path.ts';
import { isObject, type Json } from '../terms.ts';

/** The data of a sample event: a whole event, or its data alone. */
export const sampleData = (sample: Json): Json => (isObject(sample) && isObject(sample.data) ? sample.data : sample);

/** Processes a sample event as a real one: a cancellation has its final status by the event itself. */
export function prepareSampleEvent(path: Path, sample: Json, arrival: Arrival): Prepared {
  const isCancelled = isObject(sample) && isObject(sample.data) && sample.event === 'reservation.cancelled';
  return prepareEvent(
    {
      record: (data) => path.pushShaper.single(data),
      hydratedRecord: (found) => path.singleShaper.single(found),
      prepare: path.prepare,
      amend: path.amend,
      identity: { cancelled: cancelledStatus },
    },
    { event: isCancelled ? 'reservation.cancelled' : 'reservation.updated', data: sampleData(sample) },
    arrival,
  );
}
