import { documentsOf } from '../brand/active.ts';
import { jsonLimits } from '../composition/push.ts';
import type { PushIntake } from '../intake/push/intake.ts';
import { openSandbox, type Sandbox } from '../intake/push/sandbox.ts';
import type { SandboxReport } from '../intake/push/sandbox-report.ts';
import { onBehalfOf } from '../kit/holder.ts';
import { withoutCards } from '../privacy/cards.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { listSandboxReports, readSandboxReport, saveSandboxReport } from '../store/events/sandbox.ts';
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
