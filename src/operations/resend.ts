import { profilesDestination } from '../deliver/profiles.ts';
import { InnboundError } from '../errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type ResendLane, resendStep, undelivered } from '../store/outbox/resend.ts';
import { namedDestination } from './named-destination.ts';

export interface ResendRequest {
  readonly destination: string;
  /** All brands that deliver to the destination, unless one is named. */
  readonly integration?: string | undefined;
  /** One reservation or guest; needs the integration. */
  readonly id?: string | undefined;
}

/** The lanes of a resend, in order. Lanes of profiles are last for each brand and are not counted. */
export function resendLanes(
  runtime: Runtime,
  { destination: name, integration }: Omit<ResendRequest, 'id'>,
): readonly ResendLane[] {
  const { integrations } = runtime.active();
  const destination = namedDestination(runtime, name);
  const brands = [...integrations.values()].filter(
    ({ integration: brand, body }) =>
      body.deliver.includes(name) && (integration === undefined || brand === integration),
  );
  if (brands.length === 0) {
    const which = integration === undefined ? 'No integration delivers' : `${integration} does not deliver`;
    throw new InnboundError('documents.unknown_name', `${which} to ${name}.`);
  }
  const { receives } = destination.body;
  return brands.flatMap((brand): ResendLane[] => [
    ...receives.map((type) => ({ integration: brand.integration, destination: name, type })),
    // Reservations from before the destination received guests have no profiles yet.
    ...(receives.includes('guest')
      ? [{ integration: brand.integration, destination: profilesDestination, type: 'reservation' as const }]
      : []),
  ]);
}

export const isCounted = ({ destination }: ResendLane): boolean => destination !== profilesDestination;

/**
 * Queues the newest version of each record for a destination that is new, lost its data, or lacks one reservation. Returns the number of
 * queued records and the brands they belong to.
 */
export async function resendRecords(
  runtime: Runtime,
  { id, ...wanted }: ResendRequest,
  onStep?: (queued: number) => void,
): Promise<{ readonly queued: number; readonly integrations: readonly string[] }> {
  const lanes = resendLanes(runtime, wanted);
  let queued = 0;
  for (const lane of lanes) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const step = await resendStep(runtime.pool, lane, after, id);
      if (isCounted(lane)) queued += step.queued;
      onStep?.(queued);
      after = step.last;
    }
  }
  runtime.wake.signal('outbox');
  return { queued, integrations: [...new Set(lanes.map(({ integration }) => integration))] };
}

/** How much of a resend is not delivered yet; undefined if its destination no longer exists. */
export async function resendDelivery(
  runtime: Runtime,
  wanted: ResendRequest,
): Promise<{ readonly waiting: number; readonly held: number } | undefined> {
  if (!runtime.active().destinations.has(wanted.destination)) return undefined;
  return undelivered(runtime.pool, resendLanes(runtime, wanted).filter(isCounted), wanted.id);
}
