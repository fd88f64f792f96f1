import { hash } from 'node:crypto';
import { signedHeaders } from '../../../packages/sender/src/sign.ts';
import { jsonLimits, sealerOf } from '../../composition/push.ts';
import { documentsOf } from '../../core/brand/active.ts';
import { exampleEvent } from '../../core/canonical/example-event.ts';
import type { PushIntake } from '../../core/intake/push/intake.ts';
import { secretKeys } from '../../core/intake/push/mint.ts';
import { openSandbox, type Sandbox } from '../../core/intake/push/sandbox.ts';
import type { SandboxReport } from '../../core/intake/push/sandbox-report.ts';
import { endpointStatus, loadEndpoints } from '../../core/store/events/endpoints.ts';
import { listSandboxReports, readSandboxReport, saveSandboxReport } from '../../core/store/events/sandbox.ts';
import { InnboundError } from '../../errors.ts';
import { onBehalfOf } from '../../kit/holder.ts';
import { randomId } from '../../kit/ids.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { isObject, type Json, type JsonObject } from '../../terms.ts';
import type { Seen } from '../onboard/facts.ts';
import { withoutCards } from '../privacy/cards.ts';
import { type OnboardingLink, witness } from '../store/onboarding.ts';
import { offThread } from './off-thread.ts';
import { withLink } from './onboarding.ts';

/** The sandbox reads documents only, never stored data. */
export function sandboxOf(runtime: Runtime, intake: PushIntake): Sandbox {
  const { pool } = runtime;
  const brandOf = (integration: string) => runtime.active().integrations.get(integration);
  return openSandbox({
    clock: runtime.clock,
    endpoint: intake.directory.endpoint,
    report: async (integration, arrived, examined) => {
      const active = brandOf(integration);
      if (active === undefined) return undefined;
      const asked = { brand: documentsOf(active), arrived, examined };
      return onBehalfOf(integration, () => offThread({ offload: runtime.sandboxOffload }, 'sandboxReport', asked));
    },
    witness: (integration, report) => witness(pool, integration, seenIn(report)),
    save: (endpointId, integration, report) => {
      const { bytes, cards } = withoutCards(Buffer.from(JSON.stringify(report)));
      const kept = cards === 0 ? report : (JSON.parse(bytes.toString()) as SandboxReport);
      return saveSandboxReport(pool, endpointId, integration, kept);
    },
    list: (endpointId) => listSandboxReports(pool, endpointId),
    read: (endpointId, reportId) => readSandboxReport(pool, endpointId, reportId),
    jsonLimits: () => jsonLimits(runtime),
  });
}

/** What a checklist needs to know of each event in a request. */
function seenIn({ at, event_id, event, would_answer, signature, outcome, events }: SandboxReport): Seen[] {
  const request = { at: Date.parse(at), isAccepted: would_answer.code === undefined, skewS: signature.skew_s };
  return (events ?? [{ event_id, event, outcome }]).map((one) => ({
    ...request,
    eventId: one.event_id,
    event: one.event,
    isRight: one.outcome.kind === 'record' || one.outcome.kind === 'fetched_first',
    booking: one.outcome.kind === 'record' ? bookingIn(one.outcome.record) : undefined,
  }));
}

/** What names and dates a booking, without its guests: of what they are called only a mark of 16 bits, by the booking. */
export function bookingIn(record: Json): Seen['booking'] {
  if (!isObject(record) || typeof record.id !== 'string') return undefined;
  const { id, check_in, check_out, status } = record;
  const texts = Object.entries({ check_in, check_out, status }).filter(([, value]) => typeof value === 'string');
  const { guests, rooms } = record;
  const first = Array.isArray(guests) && isObject(guests[0] ?? null) ? (guests[0] as JsonObject) : {};
  const types = Array.isArray(rooms)
    ? rooms.map((room) => (isObject(room) ? (room.room_type ?? null) : null))
    : undefined;
  const marks = { guest: first.last_name, email: first.email, rooms: types && JSON.stringify(types.toSorted()) };
  const marked = Object.entries(marks).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, hash('sha256', `${id} ${value}`).slice(0, 4)]] : [],
  );
  return { id, ...Object.fromEntries([...texts, ...marked]) };
}

/** Shows how success looks: a signed event of ours, examined as the partner's are, and not counted as one of them. */
export async function sendSample(runtime: Runtime, { integration, link_id }: OnboardingLink): Promise<void> {
  const { pool } = runtime;
  const brand = runtime.active().integrations.get(integration);
  const status = await endpointStatus(pool, integration);
  if (brand === undefined || status === undefined) throw new InnboundError('push.no_endpoint', 'There is no endpoint.');
  const endpointId = brand.body.push.sandbox ? status.endpoint_id : (status.sandbox_id ?? status.endpoint_id);
  const [stored] = await loadEndpoints(pool, sealerOf(runtime), [endpointId]);
  const [newest] = stored?.secrets ?? [];
  if (stored === undefined || newest === undefined)
    throw new InnboundError('push.no_endpoint', 'There is no secret yet.');
  const receivedAt = runtime.clock.now();
  const sample = { ...exampleEvent(brand.body.brand_id, receivedAt), event_id: randomId('sample') };
  const rawBody = Buffer.from(JSON.stringify(sample));
  const signed = Object.entries(signedHeaders(newest.secret, Math.floor(receivedAt / 1000), rawBody));
  const headers = Object.fromEntries(signed.map(([name, value]) => [name.toLowerCase(), value]));
  const endpoint = { ...stored, secrets: [secretKeys(newest.secretNo, newest.secret)] };
  const report = await offThread({ offload: runtime.sandboxOffload }, 'sandboxReport', {
    brand: documentsOf(brand),
    arrived: { endpointId, headers, query: '', rawBody, receivedAt },
    examined: { endpoint, limits: jsonLimits(runtime), early: undefined },
  });
  await withLink(runtime, link_id, 'partner', 'sample', (tx) => saveSandboxReport(tx, endpointId, integration, report));
}
