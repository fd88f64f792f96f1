import type { Reservation } from '../../canonical/reservation.ts';
import type { Prepared } from '../../reconcile/incoming.ts';
import type { EventPath, Lane, PendingEvent, Settled } from './event-path.ts';
import { workGuestEvent } from './guest-event.ts';
import { arrivalOf, dataOf, prepareReservation } from './reservation-event.ts';

/**
 * Processes a batch of events in order. Consecutive reservation events are applied together; a guest event reads stored data,
 * so everything before it is applied first.
 */
export async function workLane(lane: Lane, path: EventPath): Promise<Settled[]> {
  const settled: Settled[] = [];
  let run: PendingEvent[] = [];
  const finishRun = async () => {
    if (run.length > 0) settled.push(...(await workRun(lane, path, run)));
    run = [];
  };
  for (const event of lane.events) {
    if (event.event !== 'guest.updated') {
      run.push(event);
      continue;
    }
    await finishRun();
    settled.push(await workGuestEvent(lane, path, event));
  }
  await finishRun();
  return settled;
}

async function workRun(lane: Lane, path: EventPath, events: readonly PendingEvent[]): Promise<Settled[]> {
  const settled: Settled[] = [];
  const open: { event: PendingEvent; data: ReturnType<typeof dataOf> }[] = [];
  for (const event of events) {
    const data = dataOf(event);
    const id = event.hydrated ? undefined : path.thinId?.(data);
    if (id === undefined) open.push({ event, data });
    else settled.push({ seq: event.seq, state: 'hydrate', id });
  }
  if (open.length === 0) return settled;

  const known = path.partial ? await storedReservations(lane, path, open) : undefined;
  const newest = new Map<string, { reservation: Reservation; effectiveAt: number }>();
  const prepared: Prepared[] = open.map(({ event, data }) => {
    const one = prepareReservation(path, event, data, (id) => newest.get(id)?.reservation ?? known?.get(id));
    // The next partial event of the same reservation builds on this one, not on the stored record.
    if (known && one.kind === 'record' && 'guests' in one.incoming.record) {
      const { effectiveAt } = arrivalOf(event);
      const before = newest.get(one.incoming.id);
      if (before === undefined || before.effectiveAt <= effectiveAt) {
        newest.set(one.incoming.id, { reservation: one.incoming.record, effectiveAt });
      }
    }
    return one;
  });
  const { outcomes } = await lane.apply(prepared);
  for (const [i, { event }] of open.entries()) {
    const { outcome, id, version } = outcomes[i] ?? { outcome: 'unchanged' };
    const state = outcome === 'dead' ? 'dead' : 'done';
    const where = { ...(id !== undefined && { id }), ...(version !== undefined && { version }) };
    settled.push({ seq: event.seq, state, outcome, type: 'reservation', ...where });
  }
  return settled;
}

async function storedReservations(
  lane: Lane,
  path: EventPath,
  events: readonly { readonly data: ReturnType<typeof dataOf> }[],
): Promise<ReadonlyMap<string, Reservation>> {
  const ids = events.flatMap(({ data }) => {
    const shaped = path.record(data);
    return shaped.kind === 'ok' && shaped.record.key !== '' ? [shaped.record.key] : [];
  });
  return lane.reservations([...new Set(ids)]);
}
