import type { GuestPlan, GuestUpdate } from '../../reconcile/guest-update.ts';
import type { Incoming, Prepared } from '../../reconcile/incoming.ts';
import type { Json } from '../../terms.ts';
import type { EventPath, Lane, PendingEvent, ReadGuest, Settled } from './event-path.ts';
import { arrivalOf, dataOf, deadEvent } from './reservation-event.ts';

/**
 * guest.updated: finds or creates the guest's profile and changes it, together with every future or in-house reservation of
 * that guest, in the lane's transaction.
 */
export async function workGuestEvent(lane: Lane, path: EventPath, event: PendingEvent): Promise<Settled> {
  const data = dataOf(event);
  const read = path.guest(data);
  if (read.kind === 'invalid') {
    return bury(
      lane,
      event,
      deadEvent(arrivalOf(event), read.code, read.message, data, { type: 'guest', detail: read.detail }),
    );
  }
  const settled: Settled[] = [];
  for (const guest of read.updates) {
    const one = await updateGuest(lane, path, event, data, guest);
    if (one) settled.push(one);
  }
  // A reservation may contain companions with a name only; without any guest that can be identified, the event is dead.
  if (settled[0]) return settled[0];
  return bury(
    lane,
    event,
    deadEvent(arrivalOf(event), 'push.guest_unidentified', unidentified, data, { type: 'guest' }),
  );
}

async function updateGuest(
  lane: Lane,
  path: EventPath,
  event: PendingEvent,
  data: Json,
  { update, notes }: ReadGuest,
): Promise<Settled | undefined> {
  const { identity } = path;
  const { reservationId } = update;
  // Not locked yet: below it is locked together with the others, in the order of their ids.
  const named = reservationId === undefined ? undefined : await lane.reservation(reservationId);
  const meant = named && identity.guestMeantIn(named, update);
  const profiles = await lane.profiles([...identity.keys(update.guest), ...(meant ? identity.keys(meant) : [])]);
  const plan = identity.planProfile(update, profiles, meant);
  const known = profiles.find(({ id }) => id === plan.profile.id);
  const ofProfile = known === undefined ? [] : [...identity.keys(known.guest), ...identity.pinnedKeys(known)];
  const found = await lane.reservationsOf([...identity.keys(update.guest), ...ofProfile], reservationId);
  const touched = identity.planReservations(update, known, found, path.today(event.receivedAt));
  const profileId = plan.profile.id ?? identity.newId(update.guest);
  if (profileId === undefined && touched.length === 0) return undefined;
  const prepared: Prepared[] = touched.map((one) => ofReservation(path, event, one, data));
  if (profileId !== undefined) {
    const incoming = { type: 'guest', id: profileId, record: plan.profile.guest, raw: data, notes } as const;
    prepared.unshift(profileMessage(event, update, incoming));
  }
  const { outcomes } = await lane.apply(prepared);
  const { outcome, id = '', version } = outcomes[0] ?? { outcome: 'unchanged' };
  const type = profileId === undefined ? 'reservation' : 'guest';
  return { seq: event.seq, state: 'done', outcome, type, id, ...(version !== undefined && { version }) };
}

export const unidentified = 'The event has no guest_id, no valid e-mail or phone, and no known reservation_id.';

function profileMessage(event: PendingEvent, update: GuestUpdate, incoming: Omit<Incoming, 'origins'>): Prepared {
  const origins = () => Object.fromEntries([...update.present].map((field) => [field, field]));
  const arrival = arrivalOf(event, 'guest');
  const { marketing_consent: value = null } = update.guest;
  const consent = update.present.has('marketing_consent') && {
    consent: { value, source: arrival.mode, at: arrival.effectiveAt },
  };
  return { kind: 'record', arrival, incoming: { ...incoming, origins, ...consent } };
}

/** The event is a statement about one guest of the reservation. Everything else stays, and newer statements about the guest win. */
function ofReservation(
  path: EventPath,
  event: PendingEvent,
  { record, said, notes }: GuestPlan['reservations'][number],
  raw: Json,
): Prepared {
  const arrival = arrivalOf(event, 'guest');
  const { id } = record;
  const origins = () => Object.fromEntries(notes.map(({ field }) => [field, field.slice(field.indexOf('.') + 1)]));
  const amended = { id, raw, notes, origins };
  const message = path.amend({ ...amended, says: { values: {}, lists: { guests: said } }, sent: raw }, arrival);
  return { kind: 'record', arrival, incoming: { ...amended, type: 'reservation', record }, message };
}

async function bury(lane: Lane, event: PendingEvent, dead: Prepared): Promise<Settled> {
  await lane.apply([dead]);
  return { seq: event.seq, state: 'dead', outcome: 'dead', type: 'guest' };
}
