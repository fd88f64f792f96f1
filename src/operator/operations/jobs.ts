import { errors, InnboundError } from '../../errors.ts';
import { repeat } from '../../kit/clock.ts';
import { onBehalfOf } from '../../kit/holder.ts';
import { timedId } from '../../kit/ids.ts';
import { errorFacts } from '../../kit/log.ts';
import { type Loop, startLoop } from '../../kit/loop.ts';
import { isPassing, isTooSlow } from '../../kit/sql-state.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Json } from '../../terms.ts';
import {
  advanceJob,
  type ClaimedJob,
  claimJob,
  insertJob,
  type JobRow,
  mostOpenJobs,
  noteJobFailure,
  renewJob,
} from '../store/jobs.ts';
import { claimMark } from '../store/marks.ts';
import { type AuditJobRequest, auditJob, dueAudits } from './audit-job.ts';
import type { JobPreview } from './foresee-send.ts';
import {
  type JobKind,
  type ReplayRequest,
  type ReprocessJobRequest,
  type ResendJobRequest,
  replayJob,
  reprocessJob,
  resendJob,
} from './job-kinds.ts';

/**
 * Operations on many records that an operator starts and may stop. They are stored, so that the console finds them again after a reload
 * and they continue after a restart. Erasure is not a job: it cannot continue after a restart, because the guest's keys are not stored. Its
 * receipt shows its progress.
 */
export type JobRequest = ReplayRequest | ResendJobRequest | ReprocessJobRequest | AuditJobRequest;

const kinds = { replay: replayJob, resend: resendJob, reprocess: reprocessJob, audit: auditJob };
const kindOf = ({ operation }: { operation: keyof typeof kinds }) => kinds[operation] as JobKind<JobRequest>;

/** A step takes about a second, and a longer one renews its lease; a worker that died in one is replaced after this time. */
const leaseMs = 30_000;
/** Then even the largest steps have become single records. */
const mostHalvings = 12;

/** What a job would touch. Changes nothing. */
export const previewJob = (runtime: Runtime, request: JobRequest): Promise<JobPreview> =>
  kindOf(request).preview(runtime, request);

export async function startJob(runtime: Runtime, asked: JobRequest, by: string): Promise<JobRow> {
  const { request, total, integrations } = await kindOf(asked).start(runtime, asked);
  const row = await insertJob(runtime.pool, {
    job_id: timedId('job', runtime.clock.now()),
    operation: request.operation,
    integrations,
    request: request as unknown as Json,
    requested_by: by,
    total,
  });
  if (row === undefined) {
    throw new InnboundError('operate.busy', `${mostOpenJobs} jobs of yours are not finished; wait, or stop one.`);
  }
  runtime.wake.signal('jobs');
  return row;
}

/** Does one step of one job. False if no job has anything to do. */
export async function stepJobs(runtime: Runtime, signal: AbortSignal): Promise<boolean> {
  const job = await claimJob(runtime.pool, leaseMs);
  if (job === undefined) return false;
  const request = job.request as unknown as JobRequest;
  const renew = () => void renewJob(runtime.pool, job, leaseMs).catch(() => {});
  const endRenewal = repeat(runtime.clock, leaseMs / 3, renew, { background: true });
  try {
    const atMost = (usual: number) => Math.max(1, Math.floor(usual / 2 ** job.halvings));
    const context = { by: job.requested_by, signal, atMost };
    const step = await onBehalfOf(`jobs of ${job.requested_by}`, () =>
      kindOf(request).step(runtime, request, job.position, context),
    );
    await advanceJob(runtime.pool, job, { ...step, counts: added(job, step.counts) });
  } catch (error) {
    if (isTooSlow(error)) {
      const code = 'operate.step_too_slow';
      runtime.log.warn({ job_id: job.job_id, code, error: errorFacts(error) }, 'jobs: a step took too long');
      const message =
        job.halvings + 1 >= mostHalvings
          ? `Steps took too long ${mostHalvings} times, although each was half as large as the one before.`
          : 'A step took too long. It is repeated with half as many records.';
      await noteJobFailure(runtime.pool, job, 'halvings', { code, message, most: mostHalvings });
      return true;
    }
    const known = error instanceof InnboundError ? error : undefined;
    const code = known?.code ?? 'operate.unexpected';
    const message = known?.message ?? 'A step failed unexpectedly; the log has the reason.';
    runtime.log.warn({ job_id: job.job_id, code, error: errorFacts(error) }, 'jobs: a step failed');
    // A node that is busy says nothing about the job, and neither does a failover of the database, however often it is met.
    const isSound = known === undefined || ['sender', 'again'].includes(errors[code].retry ?? 'operator');
    const most = isPassing(error) ? undefined : 3;
    await noteJobFailure(runtime.pool, job, 'failures', { code, message, most: isSound ? most : 1 });
  } finally {
    endRenewal();
  }
  return true;
}

function added({ counts }: ClaimedJob, more: { readonly [outcome: string]: number }): { [outcome: string]: number } {
  const total = { ...counts };
  for (const [outcome, count] of Object.entries(more)) total[outcome] = (total[outcome] ?? 0) + count;
  return total;
}

export function startJobs(runtime: Runtime): Loop {
  return startLoop({
    name: 'jobs',
    heartbeats: runtime.heartbeats,
    stallsAfterMs: 120_000,
    turn: (signal) => stepJobs(runtime, signal),
    pause: async (isBusy, signal) => {
      if (!isBusy) await runtime.wake.wait('jobs', 15_000, signal);
    },
    onError: (error) => runtime.log.warn({ error: errorFacts(error) }, 'jobs: a turn failed'),
  });
}

/** Starts the audits that documents ask for. One node does it. */
export async function startDueAudits(runtime: Runtime): Promise<void> {
  if (!(await claimMark(runtime.pool, 'audits', 30_000))) return;
  for (const request of await dueAudits(runtime)) await startJob(runtime, request, 'schedule');
}
