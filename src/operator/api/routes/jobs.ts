import { z } from 'zod';
import { auditRequest } from '../../operations/audit-job.ts';
import { previewSchema } from '../../operations/foresee-send.ts';
import { reprocessRequest, resendRequest } from '../../operations/job-kinds.ts';
import { type JobRequest, previewJob, startJob } from '../../operations/jobs.ts';
import { resendDelivery } from '../../operations/resend.ts';
import { jobSchema, listJobs, readJob, stopJob } from '../../store/jobs.ts';
import { type Caller, maySee } from '../caller.ts';
import { decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { type Node, notFound, ok, operator, problem, type Route, viewer } from '../route.ts';

const request = z.discriminatedUnion('operation', [
  z.strictObject({
    operation: z.literal('replay'),
    integration: z.string().optional(),
    kind: z.enum(['event', 'record', 'delivery']).optional(),
    destination: z.string().optional(),
    code: z.string().optional(),
    message: z.string().max(2000).optional().describe('The exact message: the dead letters of one reason.'),
    under: z.enum(['today', 'recorded']).optional(),
  }),
  resendRequest,
  reprocessRequest,
  auditRequest,
]);

const delivery = z
  .object({
    waiting: z.int().describe('Records that wait for the destination now.'),
    held: z.int().describe('Records that a dead letter holds back.'),
  })
  .nullable()
  .describe('For a resend: how much is queued and not delivered yet. Null for other jobs.');
/** Operations on many records: what they would touch, their progress, and stopping them. */
export function jobRoutes({ runtime }: Node): Route[] {
  const { pool } = runtime;
  return [
    operator('POST /jobs/preview', {
      scope: 'any',
      id: 'jobs.preview',
      asks: true,
      payload: true,
      summary: 'What a job would touch, in numbers and samples; changes nothing',
      body: request,
      response: previewSchema,
      handle: async ({ body, caller }) => {
        const asked = limited(body, caller);
        return asked.kind === 'problem' ? asked : ok(await previewJob(runtime, asked.request));
      },
    }),
    operator('POST /jobs', {
      scope: 'any',
      id: 'jobs.start',
      status: 202,
      summary:
        'Start replaying dead letters, resending records, reprocessing stored payloads or auditing a destination',
      description: 'A worker processes them in steps. The job can be watched and stopped; stopping undoes nothing.',
      body: request,
      response: jobSchema,
      handle: async ({ body, caller }) => {
        const asked = limited(body, caller);
        return asked.kind === 'problem' ? asked : ok(await startJob(runtime, asked.request, caller.name));
      },
    }),
    viewer('GET /jobs', {
      scope: 'any',
      id: 'jobs.list',
      summary: 'Jobs, newest first',
      query: z.strictObject(pageQuery),
      response: pageOf(jobSchema),
      handle: async ({ query, within }) => {
        const [before] = decodeCursor(query.cursor, 'text');
        const rows = await listJobs(pool, { within, before, limit: query.limit + 1 });
        return ok(paged(rows, query.limit, (row) => [row.job_id]));
      },
    }),
    viewer('GET /jobs/{job_id}', {
      scope: 'any',
      id: 'jobs.get',
      summary: 'One job and its progress',
      response: jobSchema.extend({ delivery }),
      handle: async ({ params, within }) => {
        const shown = await readJob(pool, params.job_id, within);
        if (shown === undefined) return notFound(`job ${params.job_id}`);
        const wanted = shown.request as unknown as JobRequest;
        const delivery = wanted.operation === 'resend' ? await resendDelivery(runtime, wanted) : null;
        return ok({ ...shown, delivery });
      },
    }),
    operator('POST /jobs/{job_id}/stop', {
      scope: 'any',
      id: 'jobs.stop',
      summary: 'Stop a job after the step in progress',
      response: jobSchema,
      handle: async ({ params, caller, within }) => {
        const shown = await readJob(pool, params.job_id, within);
        if (shown === undefined) return notFound(`job ${params.job_id}`);
        if (shown.finished_at !== null) {
          return problem(409, 'operate.conflict', `The job is ${shown.state} already.`);
        }
        await stopJob(pool, params.job_id, caller.name);
        return ok((await readJob(pool, params.job_id, within)) ?? shown);
      },
    }),
  ];
}

/** The request within the brands that the caller may see. */
function limited(
  asked: z.infer<typeof request>,
  caller: Caller,
): { readonly kind: 'ok'; readonly request: JobRequest } | ReturnType<typeof problem> {
  const { integration } = asked;
  if (integration !== undefined && !maySee(caller, integration)) return notFound(`integration ${integration}`);
  if (asked.operation === 'replay' && caller.integrations) {
    return { kind: 'ok', request: { ...asked, integrations: caller.integrations } };
  }
  if ('destination' in asked && integration === undefined && caller.integrations) {
    return problem(403, 'operate.forbidden', 'Name the integration: the token is limited to some of them.');
  }
  return { kind: 'ok', request: asked };
}
