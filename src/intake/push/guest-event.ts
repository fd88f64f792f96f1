import type { Guest, Reservation } from '../../canonical/reservation.ts';
import type { GuestUpdate } from '../../reconcile/guest-update.ts';
import type { Prepared } from '../../reconcile/incoming.ts';
import type { Json, Note } from '../../terms.ts';
import type { EventPath, Lane, PendingEvent, Settled } from './event-path.ts';
import { arrivalOf, dataOf, deadEvent } from './reservation-event.ts';

/**
 * guest.updated: finds or creates the guest's profile and changes it, together with every future or in-house reservation of
 * that guest, in the lane's transaction.
 */
export async function workGuestEvent(lane: Lane, path: EventPath, event: PendingEvent): Promise<Settled> {
  const data = dataOf(event);
  const read = path.guest(data);
  if (read.kind === 'invalid') {
    return bury(lane, event, deadEvent(event, read.code, read.message, data, { type: 'guest', detail: read.detail }));
  }
  const { update, notes } = read;
  const { identity } = path;
  const profiles = await lane.profiles(identity.keys(update.guest));
  const plan = identity.planProfile(update, profiles);
  const knownAs = profiles.find(({ id }) => id === plan.profile.id)?.guest;
  const keys = [...identity.keys(update.guest), ...(knownAs ? identity.keys(knownAs) : [])];
  const found = await lane.reservationsOf(keys, update.reservationId);
  const touched = identity.planReservations(update, knownAs, found, path.today(event.receivedAt));
  const profileId = plan.profile.id ?? identity.newId(update.guest);
  if (profileId === undefined && touched.length === 0) {
    const message = 'The event has no guest_id, no valid e-mail or phone, and no known reservation_id.';
    return bury(lane, event, deadEvent(event, 'push.guest_unidentified', message, data, { type: 'guest' }));
  }
  const prepared: Prepared[] = touched.map(({ record, notes: why }) => ofReservation(event, record, data, why));
  if (profileId !== undefined) prepared.unshift(ofProfile(event, profileId, plan.profile.guest, data, notes, update));
  const { outcomes } = await lane.apply(prepared);
  const { outcome, id = '', version } = outcomes[0] ?? { outcome: 'unchanged' };
  const type = profileId === undefined ? 'reservation' : 'guest';
  return { seq: event.seq, state: 'done', outcome, type, id, ...(version !== undefined && { version }) };
}

function ofProfile(
  event: PendingEvent,
  id: string,
  record: Guest,
  raw: Json,
  notes: readonly Note[],
  update: GuestUpdate,
): Prepared {
  const origins = () => Object.fromEntries([...update.present].map((field) => [field, field]));
  return {
    kind: 'record',
    arrival: arrivalOf(event, 'guest'),
    incoming: { type: 'guest', id, record, raw, notes, origins },
  };
}

function ofReservation(event: PendingEvent, record: Reservation, raw: Json, notes: readonly Note[]): Prepared {
  const origins = () => Object.fromEntries(notes.map(({ field }) => [field, field.slice(field.indexOf('.') + 1)]));
  const incoming = { type: 'reservation' as const, id: record.id, record, raw, notes, origins };
  return { kind: 'record', arrival: arrivalOf(event, 'guest'), incoming };
}

async function bury(lane: Lane, event: PendingEvent, dead: Prepared): Promise<Settled> {
  await lane.apply([dead]);
  return { seq: event.seq, state: 'dead', outcome: 'dead', type: 'guest' };
}
