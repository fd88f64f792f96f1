import { profilesDestination } from '../deliver/profiles.ts';
import { InnboundError } from '../errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { resend } from '../store/outbox/resend.ts';

export interface ResendRequest {
  readonly destination: string;
  /** All brands that deliver to the destination, unless one is named. */
  readonly integration?: string | undefined;
  /** One reservation or guest; needs the integration. */
  readonly id?: string | undefined;
}

/**
 * Queues the newest version of each record for a destination that is new, lost its data, or lacks one reservation. Returns the number of
 * queued records and the brands they belong to.
 */
export async function resendRecords(
  runtime: Runtime,
  { destination: name, integration, id }: ResendRequest,
  onStep?: (queued: number) => void,
): Promise<{ readonly queued: number; readonly integrations: readonly string[] }> {
  const { destinations, integrations } = runtime.active();
  const destination = destinations.get(name);
  if (destination === undefined) {
    const known = [...destinations.keys()].join(', ') || 'none';
    throw new InnboundError('documents.unknown_name', `There is no destination ${name}; known destinations: ${known}.`);
  }
  const brands = [...integrations.values()].filter(
    ({ name: brand, body }) => body.deliver.includes(name) && (integration === undefined || brand === integration),
  );
  if (brands.length === 0) {
    const which = integration === undefined ? 'No integration delivers' : `${integration} does not deliver`;
    throw new InnboundError('documents.unknown_name', `${which} to ${name}.`);
  }
  const { receives } = destination.body;
  let queued = 0;
  for (const brand of brands) {
    const before = queued;
    queued += await resend(runtime.pool, brand.name, name, receives, { id, onStep: (step) => onStep?.(before + step) });
    // Reservations from before the destination received guests have no profiles yet.
    if (receives.includes('guest')) {
      await resend(runtime.pool, brand.name, profilesDestination, ['reservation'], { id });
    }
  }
  runtime.wake.signal('outbox');
  return { queued, integrations: brands.map((brand) => brand.name) };
}
