import { z } from 'zod';
import { deliverPorts } from '../../composition/deliver.ts';
import { deliveryOf } from '../../core/deliver/batch.ts';
import type { Foreseen } from '../../core/deliver/destination.ts';
import { loadDestinationTypes } from '../../core/deliver/destinations.ts';
import type { Delivery, MessageData } from '../../core/deliver/message.ts';
import type { DestinationConfig, Lane } from '../../core/deliver/ports.ts';
import { needsDelivered, select } from '../../core/deliver/select.ts';
import { peek } from '../../core/store/outbox/claim.ts';
import type { ResendLane } from '../../core/store/outbox/resend.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { anyJson, type Row } from '../store/answers.ts';

/** What a job would do, before it starts. Samples may hold guest data. */
export const previewSchema = z.object({
  total: z.int().describe('How many dead letters, records or reservations it would process.'),
  looked_at: z.int().nullable().describe('How many of them the counts are based on; null if all.'),
  counts: z.array(z.object({ label: z.string(), count: z.int() })),
  samples: z.array(z.object({ integration: z.string(), id: z.string(), text: z.string().nullable(), diff: anyJson })),
});
export type JobPreview = Row<typeof previewSchema>;

/** Enough for a judgement; more would take longer than somebody waits. */
const mostRecords = 5_000;
const atOnce = 500;

/**
 * What a destination would get of all records, or of those that wait, by the same decision that a delivery makes: who, with which
 * consent, who is left out and why. Nothing is queued or sent. Of many records each lane shows its first ones, and the calls are those of all.
 */
export async function foreseeSend(
  runtime: Runtime,
  lanes: readonly ResendLane[],
  { total, onlyWaiting = false }: { readonly total: number; readonly onlyWaiting?: boolean },
): Promise<JobPreview> {
  const { lanes: inForce } = await deliverPorts(runtime);
  const counts = new Map<string, number>();
  const add = (label: string, count = 1) => counts.set(label, (counts.get(label) ?? 0) + count);
  const samples: JobPreview['samples'][number][] = [];
  const foreseen: Foreseen[] = [];
  let lookedAt = 0;
  for (const one of lanes) {
    const lane = inForce()
      .of(one.integration)
      .find(({ destination, isLeaving }) => destination.name === one.destination && !isLeaving);
    if (lane === undefined) continue;
    const { selection } = lane.destination;
    const deliveries: Delivery[] = [];
    const options = {
      withDelivered: needsDelivered(selection),
      withMentions: selection.comparesConsent === true,
      onlyWaiting,
    };
    let left = Math.ceil(mostRecords / lanes.length);
    for (let after: string | undefined = ''; after !== undefined && left > 0; ) {
      const claims = await peek(runtime.pool, one, after, Math.min(atOnce, left), options);
      for (const claimed of claims) {
        const chosen = select(lane, claimed);
        if (chosen.kind !== 'send') {
          add(`left out: ${chosen.message}`);
          continue;
        }
        // A new profile says nothing beyond the bookings that are sent before it.
        if (one.type === 'reservation' || !selection.receives.includes('reservation'))
          deliveries.push(deliveryOf(lane, claimed, chosen));
        add(`${one.type}s to send`);
        if (claimed.deliveredVersion > 0) add(`${one.type}s of these that it has already`);
        for (const label of consentIn(one, lane, chosen.message.data)) add(label);
        if (samples.length < 10)
          samples.push({ integration: one.integration, id: claimed.id, text: one.type, diff: null });
      }
      left -= claims.length;
      lookedAt += claims.length;
      after = claims.length < atOnce ? undefined : claims.at(-1)?.id;
    }
    foreseen.push(...(await requestsOf(deliveries, lane.destination)));
  }
  const share = Math.max(1, total / Math.max(1, lookedAt));
  const bound = share > 1 ? 'about' : 'at least';
  const calls = foreseen.reduce((sum, { requests }) => sum + requests, 0);
  if (calls > 0) add(`calls, ${bound}`, Math.ceil(calls * share));
  const seconds = (longestMs(foreseen) * share) / 1_000;
  if (seconds >= 120) add(`minutes at its rate, ${bound}`, Math.ceil(seconds / 60));
  else if (seconds >= 1) add(`seconds at its rate, ${bound}`, Math.ceil(seconds));
  return {
    total,
    looked_at: lookedAt < total ? lookedAt : null,
    counts: [...counts].map(([label, count]) => ({ label, count })),
    samples,
  };
}

async function requestsOf(deliveries: readonly Delivery[], config: DestinationConfig): Promise<readonly Foreseen[]> {
  const { batch, rate, settings } = config;
  const type = (await loadDestinationTypes()).get(config.type);
  const foreseen = type?.foresee?.(type.settings.parse(settings), deliveries, batch) ?? [
    { requests: Math.ceil(deliveries.length / batch), limit: undefined },
  ];
  return rate ? foreseen.map((one) => ({ ...one, limit: { name: '', rate } })) : foreseen;
}

/** Limits count beside each other: the slowest one decides. */
function longestMs(foreseen: readonly Foreseen[]): number {
  const msOf = new Map<string, number>();
  for (const { requests, limit } of foreseen)
    if (limit) msOf.set(limit.name, (msOf.get(limit.name) ?? 0) + requests * limit.rate.everyMs);
  return Math.max(0, ...msOf.values());
}

/** Of a person once: where profiles are sent, they say it. Only a marketing destination makes something of it. */
function consentIn({ type }: ResendLane, { destination: { selection } }: Lane, data: MessageData): string[] {
  if (selection.consent === undefined && !selection.comparesConsent) return [];
  if (type === 'reservation' && selection.receives.includes('guest')) return [];
  return (type === 'guest' ? [data] : (data.guests ?? [])).map(({ marketing_consent: consent }) =>
    consent === undefined ? 'guests whose consent is not known' : `guests ${consent ? 'with' : 'who refused'} consent`,
  );
}
