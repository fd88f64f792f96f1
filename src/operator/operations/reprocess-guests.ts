import type { Brand } from '../../core/brand/brand.ts';
import type { Guest } from '../../core/canonical/reservation.ts';
import type { BrandBatch, PendingEvent } from '../../core/intake/push/brand-batch.ts';
import { amended, workGuestEvent } from '../../core/intake/push/guest-event.ts';
import { arrivalOf, contentOf } from '../../core/intake/push/reservation-event.ts';
import { keyTexts } from '../../core/persons/identifiers.ts';
import { samePerson } from '../../core/persons/same-person.ts';
import { readGuests } from '../../core/pipeline/guest.ts';
import type { Claim } from '../../core/reconcile/claim.ts';
import type { ContentItem, Values } from '../../core/reconcile/content.ts';
import { reprocessedBy, type Statement } from '../../core/reconcile/forms.ts';
import { type GuestUpdate, saidOf } from '../../core/reconcile/guest-update.ts';
import { type Pool, type Tx, together } from '../../core/store/db/pool.ts';
import { batchOf, guestEventsOf, lockGuestEvents } from '../../core/store/events/work-events.ts';
import { fromReservations } from '../../core/store/persons/profile-edit.ts';
import { guestClaims } from '../../core/store/records/guest-claims.ts';
import type { PayloadRange } from '../../core/store/records/kept-payloads.ts';

/**
 * Guests' own events, read again under the documents in force. In the bookings each stays about the persons whom it was about, whatever became of
 * them since: its claim is replaced where it stands. In the profile its fields are replaced, and what it no longer states falls back to
 * what the bookings say.
 */
export async function guestStatements(
  pool: Pool,
  brand: Brand,
  ids: readonly string[],
  range: PayloadRange,
): Promise<readonly Statement[]> {
  const claimed = await guestClaims(pool, brand.integration, ids);
  const seqs = claimed.flatMap(({ claims }) => claims.map(({ at }) => at[1]));
  const events = await guestEventsOf(pool, brand.integration, [...new Set(seqs)], range);
  return claimed.flatMap(({ id, claims }) =>
    claims.flatMap((claim) => {
      const event = events.get(claim.at[1]);
      const said = event && restated(brand, event, claim);
      if (said === undefined) return [];
      const arrival = { ...arrivalOf(event as PendingEvent), ...reprocessedBy(brand) };
      return [{ ...amended(arrival, { record: { id }, said, notes: [] }, null), source: 'guest' as const }];
    }),
  );
}

/** The event for the persons of a booking about whom it was; undefined if it cannot be read. */
function restated(brand: Brand, event: PendingEvent, { content }: Claim): readonly ContentItem[] | undefined {
  const sent = contentOf(event);
  const read = readGuests(brand, sent.hydrated ?? sent.data, event.hydrated !== undefined);
  if (read.kind === 'invalid') return undefined;
  const updates = read.updates.map(({ update }) => update);
  return content.lists.guests?.map((item) => {
    const update = updates.length === 1 ? updates[0] : updates.find((one) => isAbout(one, item));
    return update === undefined ? item : { ...item, values: valuesOf(update, item) };
  });
}

const isAbout = ({ guest }: GuestUpdate, { as = {} }: ContentItem): boolean =>
  samePerson(guest, as as Guest, { isOneReservation: true }).is === 'same';

/** Of a stay that was over, the event said only that the guest withdraws. */
function valuesOf(update: GuestUpdate, { values }: ContentItem): Values {
  const said = saidOf(update);
  if (Object.keys(values).join() !== 'marketing_consent') return said;
  return said.marketing_consent === undefined ? {} : { marketing_consent: said.marketing_consent };
}

/** Processes the next events of guests again, for their profiles. */
export async function reprocessGuestEvents(
  tx: Tx,
  brand: Brand,
  range: PayloadRange,
  after: number,
  limit: number,
): Promise<{ readonly last: number | undefined; readonly changed: ReadonlySet<string> }> {
  const events = await lockGuestEvents(tx, brand.integration, range, after, limit);
  const changed = new Set<string>();
  const batch = batchOf(tx, brand, events, { othersAt: () => [] });
  for (const event of events) {
    const named = new Set<string>();
    const take: BrandBatch['take'] = async (statements) => {
      // In bookings its claims are replaced; it becomes no dead letter now.
      const kept = statements.filter(({ type, record }) => type === 'guest' && record !== undefined);
      const said = await together(
        kept.map(async (one) => (named.has(one.id) ? one : await withFallback(tx, brand, one))),
      );
      const tally = await batch.take(said);
      for (const [place, { id }] of kept.entries()) {
        named.add(id);
        if (['created', 'updated'].includes(tally.outcomes[place]?.outcome ?? '')) changed.add(id);
      }
      return tally;
    };
    await workGuestEvent({ ...batch, take }, brand, event);
  }
  return { last: events.length < limit ? undefined : events.at(-1)?.seq, changed };
}

async function withFallback(tx: Tx, { integration }: Brand, statement: Statement): Promise<Statement> {
  const { guest } = await fromReservations(tx, integration, keyTexts(statement.record as Guest), []);
  return { ...statement, fallback: guest };
}
