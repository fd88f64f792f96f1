import { isSeq } from 'yaml';
import type { Versioned } from '../../core/brand/brand.ts';
import { profilesDestination } from '../../core/deliver/profiles.ts';
import { makeDue, type ResendLane, resendStep, undelivered } from '../../core/store/outbox/resend.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type Edited, editInForce } from './edit-documents.ts';
import { foreseeSend, type JobPreview } from './foresee-send.ts';

interface ResendRequest {
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
  const destination = namedDestination(runtime, name, integration);
  const brands = [...integrations.values()].filter(
    ({ integration: brand, body }) =>
      body.deliver.includes(name) && (integration === undefined || brand === integration),
  );
  if (brands.length === 0) throw new InnboundError('documents.unknown_name', `No integration delivers to ${name}.`);
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
      const step = await resendStep(runtime.pool, lane, after, id === undefined ? undefined : [id]);
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

/** What waits for the release of a brand's deliveries to a destination, judged as a delivery would be. Nothing is sent. */
export async function previewRelease(runtime: Runtime, integration: string, destination: string): Promise<JobPreview> {
  const lanes = resendLanes(runtime, { integration, destination }).filter(isCounted);
  const { waiting: total } = await undelivered(runtime.pool, lanes);
  return foreseeSend(runtime, lanes, { total, onlyWaiting: true });
}

/** Takes the destination out of `preview` in the brand's document: what waits is sent, and so is everything after it. */
export async function release(runtime: Runtime, integration: string, destination: string, by: string): Promise<Edited> {
  const { body } = runtime.active().documents.get(integration) ?? {};
  if (!body?.preview?.includes(destination)) {
    throw new InnboundError(
      'operate.conflict',
      `The deliveries of ${integration} to ${destination} are not in preview.`,
    );
  }
  await makeDue(runtime.pool, integration, destination);
  return editInForce(runtime, { kind: 'integration', name: integration }, by, (yaml) => {
    const listed = yaml.get('preview');
    if (isSeq(listed)) listed.items = listed.items.filter((one) => String(one) !== destination);
    if (isSeq(listed) && listed.items.length === 0) yaml.delete('preview');
  });
}

/** The destination in force with this name. Of one brand, if it is named: whoever may see it need not know those of others. */
export function namedDestination(runtime: Runtime, name: string, integration?: string): Versioned<'destination'> {
  const { destinations, integrations } = runtime.active();
  const own = integrations.get(integration ?? '')?.body.deliver ?? [];
  const known = integration === undefined ? [...destinations.keys()] : own;
  const destination = known.includes(name) ? destinations.get(name) : undefined;
  if (destination !== undefined) return destination;
  const message =
    integration === undefined
      ? `There is no destination ${name}; known destinations`
      : `${integration} does not deliver to ${name}; its destinations`;
  const code = integration === undefined ? 'documents.unknown_name' : 'operate.invalid_input';
  throw new InnboundError(code, `${message}: ${known.join(', ') || 'none'}.`);
}
