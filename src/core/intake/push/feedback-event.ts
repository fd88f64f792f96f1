import type { IntegrationName, Json, Report, ReportKind } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import { normalizeGuest } from '../../normalize/normalize.ts';
import { guestKeys, keyTexts } from '../../persons/identifiers.ts';
import type { GuestUpdate, PersonPlace } from '../../reconcile/guest-update.ts';
import type { BrandBatch, PendingEvent, Settled } from './brand-batch.ts';
import { knownPersons, updateGuest } from './guest-event.ts';
import type { NewEvent } from './ports.ts';
import { dataOf } from './reservation-event.ts';

/** The event that states a report to one of the brands that deliver to the destination. */
export function feedbackEvent(
  destination: string,
  { email, says, at }: Report,
  { integration, brandId }: { readonly integration: IntegrationName; readonly brandId: string },
): Omit<NewEvent, 'endpointId' | 'secretNo'> {
  const timestamp = new Date(at).toISOString();
  const data = { destination, email, says };
  const envelope = { event: 'guest.feedback', timestamp, brand_id: brandId, data } as const;
  const eventId = [destination, says, timestamp, email.toLowerCase()].join(' ');
  return {
    integration,
    eventId,
    event: envelope.event,
    occurredAt: at,
    rawBody: Buffer.from(JSON.stringify(envelope)),
  };
}

/**
 * guest.feedback: everybody of the brand who has the address no longer agrees to marketing, as the destination's own statement. A partner
 * that repeats its older yes does not overturn it. Addresses of nobody are passed over: the vendor's account may hold more than guests.
 */
export async function workFeedback(batch: BrandBatch, brand: Brand, event: PendingEvent): Promise<Settled> {
  const data = dataOf(event) as { readonly destination: string; readonly email: string; readonly says: ReportKind };
  const by = `destination:${data.destination}` as const;
  const address = addressOf(data.email);
  const nobody: Settled = { seq: event.seq, state: 'done', outcome: 'unchanged', type: 'guest', reason: unknown };
  if (address === undefined) return nobody;
  const update: GuestUpdate = {
    guest: { email: address, marketing_consent: false },
    present: new Set(['marketing_consent']),
  };
  const keys = guestKeys(update.guest);
  // Brands may share an account. What one of them withdrew there says nothing about the guest's consent at another.
  if (await batch.isRefusedAt(batch.othersAt(data.destination), keys, by)) return { ...nobody, reason: echo };
  const persons = await personsAt(batch, update);
  // Without a profile: what the bookings said so far is part of it, so that repeating it says nothing new.
  const booked = persons.every((at) => 'reservation' in at) ? await batch.consentOf(keys) : undefined;
  if (persons.length === 0 && booked === undefined) return nobody;
  const reason = `The destination ${data.destination} reports: ${data.says}.`;
  const notes = [
    { step: 'reconcile', field: 'marketing_consent', code: data.says, reason, after: false as Json },
  ] as const;
  const from = { by, consent: booked?.consent };
  let settled: Settled | undefined;
  for (const [place, to] of (persons.length === 0 ? [undefined] : persons).entries()) {
    const one = await updateGuest(batch, brand, event, { data, update, notes, place, to, from });
    if (one !== undefined && !('failure' in one)) settled ??= one;
  }
  return settled ?? nobody;
}

/** An e-mail address as records have it; undefined for a text that is none, and for an alias of a booking site. */
function addressOf(text: string): string | undefined {
  const { email, email_proxy: isAlias } = normalizeGuest({ email: text }, {}).guest;
  return isAlias ? undefined : email;
}

const unknown = 'Nobody of this brand has the address.';
const echo = 'Another brand that delivers there withdrew the consent.';

/** Profiles with the address; without any, the guests of upcoming reservations with it. */
async function personsAt(batch: BrandBatch, update: GuestUpdate): Promise<readonly PersonPlace[]> {
  const { profiles, reservations } = await knownPersons(batch, update);
  const [key = ''] = keyTexts(update.guest);
  const own = profiles.filter(({ guest, pins }) => keyTexts(guest).includes(key) || pins?.has(key));
  if (own.length > 0) return own.map(({ id }) => ({ profile: id }));
  return reservations.flatMap(({ id, guests }) =>
    guests.flatMap((guest, place) => (keyTexts(guest).includes(key) ? [{ reservation: id, place }] : [])),
  );
}
