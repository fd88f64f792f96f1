import { parseJson } from '../../../kit/json.ts';
import type { EpochMs, Json, LocalDate } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { Guest } from '../../canonical/reservation.ts';
import { guestKeys } from '../../persons/identifiers.ts';
import { pinnedKeys } from '../../persons/profile-match.ts';
import { samePerson } from '../../persons/same-person.ts';
import { type GuestsRead, type ReadGuest, readGuests, ruleProfile } from '../../pipeline/guest.ts';
import { amend } from '../../pipeline.ts';
import { type Consent, newerConsent } from '../../reconcile/consent.ts';
import { leaderOf, type ReportingDestination } from '../../reconcile/content.ts';
import type { Receipt, Statement } from '../../reconcile/forms.ts';
import {
  type GuestAmendment,
  type GuestUpdate,
  isSame,
  type PersonPlace,
  planGuestUpdate,
  type RuledGuest,
} from '../../reconcile/guest-update.ts';
import { aboutProfile } from '../../reconcile/profile.ts';
import type { BrandBatch, PendingEvent, Settled } from './brand-batch.ts';
import { arrivalOf, type DeadEvent, dataOf, deadEvent, thinIdOf } from './reservation-event.ts';

/**
 * guest.updated: finds or creates the guest's profile and changes it, together with every future or in-house reservation of
 * that guest, in the batch's transaction. An event with several guests becomes a dead letter for the first whom it cannot settle. `assigned`:
 * an operator says whom that guest is; those before it are settled already.
 */
export async function workGuestEvent(
  batch: BrandBatch,
  brand: Brand,
  event: PendingEvent,
  assigned?: Assigned,
): Promise<Settled> {
  const sent = dataOf(event);
  const id = event.hydrated ? undefined : thinIdOf(brand, 'guest', sent);
  if (id !== undefined) return { seq: event.seq, state: 'hydrate', type: 'guest', id };
  const data = event.hydrated ? (parseJson(event.hydrated.body.toString('utf8')) as Json) : sent;
  const read: GuestsRead = readGuests(brand, data, event.hydrated !== undefined);
  if (read.kind === 'invalid') {
    return bury(batch, event, deadEvent(arrivalOf(event), read, data, { type: 'guest', detail: read.detail }));
  }
  const results: (Settled | DeadEvent)[] = [];
  for (const [place, guest] of read.updates.entries()) {
    if (assigned !== undefined && place < assigned.guest) continue;
    const to = place === assigned?.guest ? assigned.to : undefined;
    const one = await updateGuest(batch, brand, event, { data, ...guest, place, to });
    if (one) results.push(one);
  }
  // A reservation may contain companions with a name only; without any guest that can be identified, the event becomes a dead letter.
  const failure = { code: 'push.guest_unidentified', message: unidentified } as const;
  const first = results.find((one) => 'failure' in one) ?? results[0];
  const result = first ?? deadEvent(arrivalOf(event), failure, data, { type: 'guest' });
  return 'failure' in result ? bury(batch, event, result) : result;
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
  brand: Brand,
  event: PendingEvent,
  { data, update: sent, notes, place, to, from }: OneUpdate,
): Promise<Settled | DeadEvent | undefined> {
  const { reservationId } = sent;
  const update = reservationId === undefined ? sent : { ...sent, reservationId: await batch.storedId(reservationId) };
  const known = await knownPersons(batch, update);
  const plan = planGuestUpdate(update, known, todayOf(brand, event.receivedAt), to);
  const arrival = arrivalOf(event, 'guest', from?.by);
  const about = { type: 'guest', detail: {} } as const;
  if (plan.kind === 'ambiguous') {
    const detail = { guest: place, candidates: plan.candidates.map((one) => ({ ...one })) };
    const failure = { code: 'push.guest_ambiguous', message: ambiguous(plan.candidates) } as const;
    return deadEvent(arrivalOf(event), failure, data, { ...about, detail });
  }
  const ruled = ruledProfile(brand, plan.profile, update);
  if (ruled.kind === 'failed') {
    const dead = deadEvent(arrivalOf(event), ruled, data, { ...about, detail: ruled.detail });
    return { ...dead, guests: [update.guest] };
  }
  const profileId = plan.profile.id ?? (await batch.newProfileId(ruled.kind === 'kept' ? ruled.guest : update.guest));
  if (profileId === undefined && plan.reservations.length === 0) return undefined;
  const statements = plan.reservations.map((one) => amended(arrival, one, data));
  if (profileId !== undefined) {
    // Rules may have removed what identifies an erased guest.
    const about = { raw: { key: profileId, value: data }, guests: [update.guest] };
    const said =
      ruled.kind === 'dropped'
        ? { ...about, dropped: ruled.reason }
        : {
            ...about,
            record: ruled.guest,
            present: presentIn(plan.profile, ruled.guest, update),
            notes: [...notes, ...ruled.notes],
            origins: Object.fromEntries([...update.present].map((field) => [field, field])),
            consent: consentStated(arrival, update, plan.profile.guest, ruled.guest, from?.consent),
          };
    statements.unshift(aboutProfile(profileId, arrival, said));
  }
  const { outcomes } = await batch.take(statements);
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
    guest.marketing_consent === false,
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
  brand: Brand,
  { id, guest }: { readonly id?: string; readonly guest: Guest },
  update: GuestUpdate,
): RuledGuest {
  const ruled = ruleProfile(brand, guest, update);
  if (ruled.kind !== 'kept' || id !== undefined || guestKeys(guest).length === 0) return ruled;
  if (guestKeys(ruled.guest).length > 0) return ruled;
  return { kind: 'dropped', reason: 'The rules remove everything that identifies the guest.' };
}

/** The fields that the event states, and those that the rules change because of it; undefined for a new profile. */
function presentIn(
  { id, guest }: { readonly id?: string; readonly guest: Guest },
  ruled: Guest,
  { present }: GuestUpdate,
): ReadonlySet<string> | undefined {
  if (id === undefined) return undefined;
  const all = new Set([...Object.keys(guest), ...Object.keys(ruled)] as (keyof Guest)[]);
  const changed = [...all].filter((field) => !isSame(guest[field] as Json, ruled[field] as Json));
  return new Set([...present, ...changed.map(leaderOf)]);
}

/** The guest's own statement about consent; `merged` is the profile before the rules, `known` what else is known of the guest's consent. */
function consentStated(
  { by, effectiveAt: at }: Receipt,
  { present }: GuestUpdate,
  merged: Guest,
  { marketing_consent }: Guest,
  known: Consent | undefined,
): Consent | undefined {
  const value = marketing_consent ?? null;
  const isStated = present.has('marketing_consent') || value !== (merged.marketing_consent ?? null);
  if (!isStated) return undefined;
  const own = { value, source: by ?? 'guest', at } as const;
  return newerConsent(known, { ...own, isOwn: true, own });
}

/** A statement about one guest of the reservation. Everything else stays, and newer statements about the guest win. */
export function amended(
  arrival: Receipt,
  { record: { id }, said, notes }: Omit<GuestAmendment, 'record'> & { readonly record: { readonly id: string } },
  raw: Json,
): Statement {
  const origins = Object.fromEntries(notes.map(({ field }) => [field, field.slice(field.indexOf('.') + 1)]));
  const guests = said.map((item) => ({ ...item, isOwn: true as const }));
  const content = { values: {}, lists: { guests } };
  const source = arrival.by ?? 'guest';
  return { ...amend({ id, raw, notes, origins, content }, arrival), source, isPerson: true };
}

/** The day at the hotel. */
export const todayOf = ({ body }: Pick<Brand, 'body'>, at: EpochMs): LocalDate =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(body.timezone).toPlainDate().toString();

async function bury(batch: BrandBatch, event: PendingEvent, dead: DeadEvent): Promise<Settled> {
  await batch.take([dead]);
  return { seq: event.seq, state: 'dead', outcome: 'dead', type: 'guest' };
}
