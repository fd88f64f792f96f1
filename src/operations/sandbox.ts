import { documentsOf } from '../brand/active.ts';
import { jsonLimits } from '../composition/push.ts';
import type { PushIntake } from '../intake/push/intake.ts';
import { openSandbox, type Sandbox } from '../intake/push/sandbox.ts';
import type { SandboxReport } from '../intake/push/sandbox-report.ts';
import { onBehalfOf } from '../kit/holder.ts';
import type { Seen } from '../onboard/facts.ts';
import { withoutCards } from '../privacy/cards.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { listSandboxReports, readSandboxReport, saveSandboxReport } from '../store/events/sandbox.ts';
import { witness } from '../store/operate/onboarding.ts';
import { isObject, type Json } from '../terms.ts';
import { offThread } from './off-thread.ts';

/** The sandbox reads documents only, never stored data. */
export function sandboxOf(runtime: Runtime, intake: PushIntake): Sandbox {
  const { pool } = runtime;
  const found = (integration: string) => runtime.active().integrations.get(integration);
  return openSandbox({
    clock: runtime.clock,
    endpoint: intake.directory.endpoint,
    report: async (integration, arrived, examined) => {
      const active = found(integration);
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

/** What names and dates a booking, without its guests. */
export function bookingIn(record: Json): Seen['booking'] {
  if (!isObject(record) || typeof record.id !== 'string') return undefined;
  const { id, check_in, check_out, status } = record;
  const texts = Object.entries({ check_in, check_out, status }).filter(([, value]) => typeof value === 'string');
  return { id, ...Object.fromEntries(texts) };
}
