import type { Brand } from '../core/brand/brand.ts';
import type { Destination, Outcome } from '../core/deliver/destination.ts';
import { amended, todayOf } from '../core/intake/push/guest-event.ts';
import { arrivedBy } from '../core/reconcile/forms.ts';
import { amendGuest } from '../core/reconcile/guest-update.ts';
import { transaction } from '../core/store/db/pool.ts';
import { lockReservations } from '../core/store/persons/profile-lookup.ts';
import { assembleProfiles } from '../core/store/persons/profiles.ts';
import type { LateBooking } from '../core/store/persons/stated.ts';
import { ingest } from '../core/store/records/ingest.ts';
import type { Runtime } from '../runtime/runtime.ts';

export function openProfiles(runtime: Runtime): Destination {
  return {
    async deliver(batch) {
      const startedAt = performance.now();
      const [first] = batch;
      const integration = runtime.active().integrations.get(first?.message.integration ?? '');
      const done = (outcome: Outcome): Outcome[] =>
        batch.map(() => ({ ...outcome, durationMs: Math.round(performance.now() - startedAt) }));
      if (integration === undefined) {
        const message = 'The integration is not in force.';
        return done({ kind: 'retry', code: 'deliver.unreachable', message, free: true });
      }
      // The profile of a guest stays when a booking leaves.
      const kept = batch.filter(({ message }) => message.event !== 'removed');
      const reservations = kept.map(({ message: { data, version } }) => ({
        id: data.id,
        version,
        guests: data.guests ?? [],
      }));
      const late = await assembleProfiles(runtime.pool, integration, reservations);
      if (late.length > 0) await amendLate(runtime, integration, late);
      runtime.wake.signal('outbox');
      return done({ kind: 'delivered' });
    },
    async close() {},
  };
}

/**
 * A guest's event changes the reservations that are stored when it arrives. One that arrives later but is older gets what the guest
 * stated here, so that every order of arrival ends in the same state.
 */
async function amendLate({ pool }: Runtime, integration: Brand, bookings: readonly LateBooking[]): Promise<void> {
  await transaction(pool, async (tx) => {
    const stored = await lockReservations(tx, integration.integration, bookings.map(({ id }) => id).sort());
    const statements = bookings.flatMap(({ id, guest, profileId, update, source, at, seq }) => {
      const reservation = stored.get(id);
      const amendment = reservation && amendGuest(reservation, guest, update, todayOf(integration, at));
      if (amendment === undefined) return [];
      const arrival = {
        ...arrivedBy(source),
        effectiveAt: at,
        ...(seq !== undefined && { seq }),
        cause: 'guest',
        causeId: `profile ${profileId}`,
      } as const;
      return [{ ...amended(arrival, amendment, null), source }];
    });
    if (statements.length > 0) await ingest(tx, integration, statements);
  });
}
