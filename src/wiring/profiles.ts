import { createHash } from 'node:crypto';
import type { Destination, Outcome } from '../deliver/destination.ts';
import { profileId } from '../reconcile/guest-match.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { assembleProfiles } from '../store/records/profiles.ts';

export function openProfiles(runtime: Runtime): Destination {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
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
      const reservations = batch.map(({ message: { data, version } }) => ({
        id: data.id,
        version,
        guests: data.guests ?? [],
      }));
      await assembleProfiles(runtime.pool, integration.target, reservations, (guest) =>
        profileId(integration.name, guest, digest),
      );
      runtime.wake.signal('outbox');
      return done({ kind: 'delivered' });
    },
    async close() {},
  };
}
