import { deliverPorts } from '../composition/deliver.ts';
import type { MessageData } from '../deliver/message.ts';
import type { Lane } from '../deliver/ports.ts';
import { needsDelivered, select } from '../deliver/select.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { peek } from '../store/outbox/claim.ts';
import type { ResendLane } from '../store/outbox/resend.ts';
import type { JobPreview } from './jobs/kind.ts';

/** Enough for a judgement; more would take longer than somebody waits. */
const mostRecords = 5_000;
const atOnce = 500;
const mostSamples = 10;

/**
 * What a destination would get of all records, or of those that wait, by the same decision that a delivery makes: who, with which consent, who is left out and
 * why. Nothing is queued or sent.
 */
export async function foreseeSend(
  runtime: Runtime,
  lanes: readonly ResendLane[],
  { onlyWaiting = false } = {},
): Promise<Pick<JobPreview, 'counts' | 'samples'> & { readonly lookedAt: number }> {
  const { lanes: inForce } = await deliverPorts(runtime);
  const counts = new Map<string, number>();
  const add = (label: string, count = 1) => counts.set(label, (counts.get(label) ?? 0) + count);
  const samples: JobPreview['samples'][number][] = [];
  let lookedAt = 0;
  let calls = 0;
  let seconds = 0;
  for (const one of lanes) {
    const lane = inForce()
      .of(one.integration)
      .find(({ destination, isLeaving }) => destination.name === one.destination && !isLeaving);
    if (lane === undefined) continue;
    let sent = 0;
    for (let after: string | undefined = ''; after !== undefined && lookedAt < mostRecords; ) {
      const { selection } = lane.destination;
      const options = {
        withDelivered: needsDelivered(selection),
        withMentions: selection.comparesConsent === true,
        onlyWaiting,
      };
      const claims = await peek(runtime.pool, one, after, atOnce, options);
      for (const claimed of claims) {
        const chosen = select(lane, claimed);
        if (chosen.kind !== 'send') {
          add(`left out: ${chosen.message}`);
          continue;
        }
        sent += 1;
        add(`${one.type}s to send`);
        for (const label of consentIn(one, lane, chosen.message.data)) add(label);
        if (samples.length < mostSamples)
          samples.push({ integration: one.integration, id: claimed.id, text: one.type, diff: null });
      }
      lookedAt += claims.length;
      after = claims.length < atOnce ? undefined : claims.at(-1)?.id;
    }
    const { batch, rate } = lane.destination;
    const needed = Math.ceil(sent / batch);
    calls += needed;
    if (rate) seconds += (needed * rate.everyMs) / 1_000;
  }
  if (calls > 0) add('calls, at least', calls);
  if (seconds >= 1) add('seconds at its rate, at least', Math.ceil(seconds));
  return { lookedAt, counts: [...counts].map(([label, count]) => ({ label, count })), samples };
}

/** Only a marketing destination makes something of it. */
function consentIn({ type }: ResendLane, { destination }: Lane, data: MessageData): string[] {
  if (destination.selection.consent === undefined && !destination.selection.comparesConsent) return [];
  return (type === 'guest' ? [data] : (data.guests ?? [])).map(({ marketing_consent: consent }) =>
    consent === undefined ? 'guests whose consent is not known' : `guests ${consent ? 'with' : 'who refused'} consent`,
  );
}
