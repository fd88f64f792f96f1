import type { Guest } from '../../canonical/reservation.ts';
import { parseJson } from '../../kit/json.ts';
import { guestKeys } from '../../persons/identifiers.ts';
import { pinnedKeys } from '../../persons/profile-match.ts';
import { samePerson } from '../../persons/same-person.ts';
import { newerConsent } from '../../reconcile/consent.ts';
import type { Consent } from '../../reconcile/consent-run.ts';
import {
  type GuestAmendment,
  type GuestUpdate,
  type PersonPlace,
  planGuestUpdate,
  type RuledGuest,
} from '../../reconcile/guest-update.ts';
import type { Amendment, Arrival, Incoming, Prepared } from '../../reconcile/incoming.ts';
import type { ReportingDestination } from '../../reconcile/statement.ts';
import type { Json } from '../../terms.ts';
import type { BrandBatch, EventPath, PendingEvent, ReadGuest, Settled } from './event-path.ts';
import { arrivalOf, type DeadEvent, dataOf, deadEvent } from './reservation-event.ts';

/**
 * guest.updated: finds or creates the guest's profile and changes it, together with every future or in-house reservation of
 * that guest, in the batch's transaction. An event with several guests becomes a dead letter for the first whom it cannot settle. `assigned`:
 * an operator says whom that guest is; those before it are settled already.
 */
export async function workGuestEvent(
  batch: BrandBatch,
  path: EventPath,
  event: PendingEvent,
  assigned?: Assigned,
): Promise<Settled> {
  const sent = dataOf(event);
  const id = event.hydrated ? undefined : path.thinGuestId?.(sent);
  if (id !== undefined) return { seq: event.seq, state: 'hydrate', type: 'guest', id };
  const data = event.hydrated ? (parseJson(event.hydrated.body.toString('utf8')) as Json) : sent;
  const read = path.guest(data, event.hydrated !== undefined);
  if (read.kind === 'invalid') {
    return bury(batch, event, deadEvent(arrivalOf(event), read, data, { type: 'guest', detail: read.detail }));
  }
  const results: (Settled | DeadEvent)[] = [];
  for (const [place, guest] of read.updates.entries()) {
    if (assigned !== undefined && place < assigned.guest) continue;
    const to = place === assigned?.guest ? assigned.to : undefined;
    const one = await updateGuest(batch, path, event, { data, ...guest, place, to });
    if (one) results.push(one);
  }
  // A reservation may contain companions with a name only; without any guest that can be identified, the event becomes a dead letter.
  const failure = { code: 'push.guest_unidentified', message: unidentified } as const;
  const first = results.find((one) => 'deadLetter' in one) ?? results[0];
  const result = first ?? deadEvent(arrivalOf(event), failure, data, { type: 'guest' });
  return 'deadLetter' in result ? bury(batch, event, result) : result;
}

/** Which guest of an event an operator assigned, and to whom. */
export interface Assigned {
  /** The place among the event's guests. */
  readonly guest: number;
  readonly to: PersonPlace;
}

interface OneUpdate extends ReadGuest {
  readonly data: Json;
  readonly place: number;
  readonly to: PersonPlace | undefined;
  /** The destination that states it, with what else is known of the guest's consent. */
  readonly from?: { readonly by: ReportingDestination; readonly consent: Consent | undefined };
}

export async function updateGuest(
  batch: BrandBatch,
  path: EventPath,
  event: PendingEvent,
  { data, update: sent, notes, place, to, from }: OneUpdate,
): Promise<Settled | DeadEvent | undefined> {
  const { reservationId } = sent;
  const update = reservationId === undefined ? sent : { ...sent, reservationId: await batch.storedId(reservationId) };
  const known = await knownPersons(batch, update);
  const plan = planGuestUpdate(update, known, path.today(event.receivedAt), to);
  const arrival = arrivalOf(event, 'guest', from?.by);
  const about = { type: 'guest', detail: {} } as const;
  if (plan.kind === 'ambiguous') {
    const detail = { guest: place, candidates: plan.candidates.map((one) => ({ ...one })) };
    const failure = { code: 'push.guest_ambiguous', message: ambiguous(plan.candidates) } as const;
    return deadEvent(arrivalOf(event), failure, data, { ...about, detail });
  }
  const ruled = ruledProfile(path, plan.profile, update);
  if (ruled.kind === 'failed') {
    const dead = deadEvent(arrivalOf(event), ruled, data, { ...about, detail: ruled.detail });
    return { ...dead, guests: () => [update.guest] };
  }
  const profileId = plan.profile.id ?? (await batch.newProfileId(ruled.kind === 'kept' ? ruled.guest : update.guest));
  if (profileId === undefined && plan.reservations.length === 0) return undefined;
  const prepared: Prepared[] = plan.reservations.map((one) => amended(path, arrival, one, { sent: data, raw: data }));
  if (profileId !== undefined) {
    const about = { type: 'guest', id: profileId, raw: data } as const;
    const message: Prepared =
      ruled.kind === 'dropped'
        ? { ...ruled, ...about, arrival }
        : profileMessage(arrival, { ...update, known: from?.consent }, plan.profile.guest, {
            ...about,
            record: ruled.guest,
            notes: [...notes, ...ruled.notes],
          });
    // Rules may have removed what identifies an erased guest.
    prepared.unshift({ ...message, guests: () => [update.guest] });
  }
  const { outcomes } = await batch.apply(prepared);
  const { outcome, id = '', version } = outcomes[0] ?? { outcome: 'unchanged' };
  const type = profileId === undefined ? 'reservation' : 'guest';
  return { seq: event.seq, state: 'done', outcome, type, id, ...(version !== undefined && { version }) };
}

/** Everybody whom the event may mean, and the reservations and profiles that share a key with one of them. */
export async function knownPersons(batch: BrandBatch, { guest, reservationId }: GuestUpdate) {
  // Not locked yet: below it is locked together with the others, in the order of their ids.
  const named = reservationId === undefined ? undefined : await batch.reservation(reservationId);
  const near =
    named?.guests.filter((one) => samePerson(guest, one, { isOneReservation: true }).is !== 'different') ?? [];
  const profiles = await batch.profiles([guest, ...near].flatMap(guestKeys));
  const ofProfiles = profiles.flatMap((one) => [...guestKeys(one.guest), ...pinnedKeys(one)]);
  const reservations = await batch.reservationsOf(
    [...[guest, ...near].flatMap(guestKeys), ...ofProfiles],
    reservationId,
  );
  const bookings = await batch.bookings(reservations.map(({ id }) => id));
  return { profiles, reservations, isBookingOf: bookings.has };
}

/** Names the candidates by booking and place, never by guest data. */
function ambiguous(candidates: readonly PersonPlace[]): string {
  const places = candidates.map((one) =>
    'profile' in one ? `profile ${one.profile}` : `guest ${one.place + 1} of reservation ${one.reservation}`,
  );
  const named = places.slice(0, mostNamed).join(', ');
  const more = places.length > mostNamed ? ` and ${places.length - mostNamed} more` : '';
  return `It is not certain whom the event means: ${named}${more}. The sender can add guest_id, or reservation_id with the full name.`;
}

const mostNamed = 5;

export const unidentified = 'The event has no guest_id, no valid e-mail or phone, and no known reservation_id.';

/** A new profile from which the rules remove every key is not made: nothing could find it again. */
function ruledProfile(
  { profile }: EventPath,
  { id, guest }: { readonly id?: string; readonly guest: Guest },
  update: GuestUpdate,
): RuledGuest {
  const ruled = profile(guest, update);
  if (ruled.kind !== 'kept' || id !== undefined || guestKeys(guest).length === 0) return ruled;
  if (guestKeys(ruled.guest).length > 0) return ruled;
  return { kind: 'dropped', reason: 'The rules remove everything that identifies the guest.' };
}

/** `merged` is the profile before the rules. */
function profileMessage(
  arrival: Arrival,
  update: GuestUpdate & { readonly known: Consent | undefined },
  merged: Guest,
  incoming: Omit<Incoming, 'origins' | 'record'> & { readonly record: Guest },
): Prepared {
  const origins = () => Object.fromEntries([...update.present].map((field) => [field, field]));
  const { marketing_consent: value = null } = incoming.record;
  const isStated = update.present.has('marketing_consent') || value !== (merged.marketing_consent ?? null);
  const own = { value, source: arrival.by ?? arrival.mode, at: arrival.effectiveAt };
  const consent = isStated ? newerConsent(update.known, { ...own, own }) : undefined;
  return { kind: 'record', arrival, incoming: { ...incoming, origins, ...(consent && { consent }) } };
}

/** A statement about one guest of the reservation. Everything else stays, and newer statements about the guest win. */
export function amended(
  path: Pick<EventPath, 'amend'>,
  arrival: Arrival,
  { record, said, notes }: GuestAmendment,
  { sent, raw }: Pick<Amendment, 'sent' | 'raw'>,
): Prepared {
  const { id } = record;
  const origins = () => Object.fromEntries(notes.map(({ field }) => [field, field.slice(field.indexOf('.') + 1)]));
  const about = { id, raw, notes, origins };
  const message = path.amend({ ...about, says: { values: {}, lists: { guests: said } }, sent }, arrival);
  return { kind: 'record', arrival, incoming: { ...about, type: 'reservation', record }, message };
}

async function bury(batch: BrandBatch, event: PendingEvent, dead: Prepared): Promise<Settled> {
  await batch.apply([dead]);
  return { seq: event.seq, state: 'dead', outcome: 'dead', type: 'guest' };
}
