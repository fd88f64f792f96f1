import { z } from 'zod';
import { durationMs } from '../../core/documents/units.ts';
import { countRecords as countIn } from '../../core/store/outbox/resend.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { listComparisons } from '../store/comparisons.ts';
import { moveMark, readMark } from '../store/marks.ts';
import { type AuditState, auditStep, beginAudit, openAudit, repairable } from './audit.ts';
import type { JobKind } from './job-kinds.ts';
import { isCounted, resendLanes } from './resend.ts';

export const auditRequest = z.strictObject({
  operation: z.literal('audit'),
  destination: z.string(),
  integration: z.string().optional().describe('Only this brand; without it, every brand that the destination has.'),
  since: z.iso.datetime().optional().describe('Only records that changed since then.'),
  sample: z.int().min(1).max(100_000).optional().describe('Only so many records of each brand and type, by chance.'),
  repair: z.boolean().optional().describe('Sends again what is behind, changed or missing there.'),
});
export type AuditJobRequest = z.infer<typeof auditRequest>;

/** An audit in steps of one page. What it found is kept with the destination; the job shows the first differences. */
export const auditJob: JobKind<AuditJobRequest> = {
  preview: async (runtime, request) => {
    const { destination, integration } = request;
    const within = integration === undefined ? undefined : [integration];
    const last = await listComparisons(runtime.pool, { destination, within, withDifferences: true });
    const differences = last.flatMap((one) => one.differences).filter(({ kind }) => repairable.has(kind));
    return {
      total: await countIn(runtime.pool, resendLanes(runtime, request).filter(isCounted)),
      looked_at: null,
      counts: [...repairable].map((kind) => ({
        label: `${kind} at the last audit`,
        count: last.reduce((sum, { counts }) => sum + counts[kind], 0),
      })),
      samples: differences
        .slice(0, 10)
        .map((one) => ({ integration: one.integration, id: one.id, text: one.type, diff: null })),
    };
  },
  start: async (runtime, request) => {
    const lanes = resendLanes(runtime, request).filter(isCounted);
    // An audit of all also names records of brands that no longer deliver there.
    const integrations = request.integration === undefined ? null : [request.integration];
    return { request, total: await countIn(runtime.pool, lanes), integrations };
  },
  step: async (runtime, request, position, { signal }) => {
    const audit = await openAudit(runtime, request);
    try {
      const state = position === null ? await beginAudit(audit) : (position as unknown as AuditState);
      const { read, differences, state: next, finished } = await auditStep(audit, state, signal);
      const refusals = differences.map(({ id, kind, paths = [], reason }) => ({
        id,
        reason: [kind, ...paths, ...(reason === undefined ? [] : [reason])].join(' '),
      }));
      return { done: read, counts: { ...finished?.counts }, refusals, position: next as never };
    } finally {
      await audit.holdings.close();
    }
  },
};

/** The destinations whose audit is due by `audit` in their document, each on one node. */
export async function dueAudits(runtime: Runtime): Promise<readonly AuditJobRequest[]> {
  const due: AuditJobRequest[] = [];
  for (const { name, body } of runtime.active().destinations.values()) {
    if (body.audit === undefined || body.paused) continue;
    const everyMs = durationMs(body.audit.every);
    const [hours = 0, minutes = 0] = body.audit.at.split(':').map(Number);
    const offsetMs = (hours * 60 + minutes) * 60_000;
    const lastMs = Math.floor((runtime.clock.now() - offsetMs) / everyMs) * everyMs + offsetMs;
    const mark = `audit ${name}`;
    if ((await readMark(runtime.pool, mark)) >= lastMs) continue;
    await moveMark(runtime.pool, mark, lastMs);
    due.push({ operation: 'audit', destination: name });
  }
  return due;
}
