import { z } from 'zod';
import { startRun } from '../../../composition/pull.ts';
import { longestId } from '../../../core/canonical/field-check.ts';
import { noteSchema } from '../../../core/canonical/schema.ts';
import { noIntegration } from '../../../errors/no-integration.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import type { Json, SyncType } from '../../../terms.ts';
import { linkFor } from '../../operations/consent.ts';
import { dryRunDay } from '../../operations/dry-run.ts';
import { previewSchema } from '../../operations/foresee-send.ts';
import { refetchReservation } from '../../operations/refetch.ts';
import { previewRelease, release, resendRecords } from '../../operations/resend.ts';
import { resume, startPulling, tryPartnerOf } from '../../operations/resume.ts';
import { anyJson, counts, instant } from '../../store/answers.ts';
import { pauseIntegration } from '../../store/overview.ts';
import { admin, type Node, notFound, ok, operator, problem, type Result, type Route } from '../route.ts';
import { exchange } from './runs.ts';

const queued = z.object({ run_id: z.string(), already_going: z.boolean() });
const localDate = z.iso.date();

/** Operator actions on an integration. */
export function integrationActionRoutes({ runtime }: Node): Route[] {
  const exists = (name: string) => runtime.active().integrations.has(name);
  return [
    operator('POST /integrations/{integration}/pause', {
      id: 'integrations.pause',
      summary: 'Pause scheduled pulls; events are still accepted',
      body: z.strictObject({ reason: z.string().max(500).optional() }),
      response: z.object({ paused: z.literal(true) }),
      handle: async ({ params, body, caller }) => {
        if (!exists(params.integration)) return notFound(`integration ${params.integration}`);
        await pauseIntegration(runtime.pool, params.integration, caller.name, body.reason ?? null);
        return ok({ paused: true });
      },
    }),
    admin('POST /integrations/{integration}/start', {
      id: 'integrations.start',
      summary: 'Take the pause of a new brand out of its document, so that it is pulled on schedule',
      response: z.object({
        version: z.int(),
        file: z.string(),
        pulling: z
          .boolean()
          .describe('False if it stays paused: by a person, or because the partner refuses the credentials.'),
      }),
      handle: async ({ params, caller }) => ok(await startPulling(runtime, params.integration, caller.name)),
    }),
    operator('POST /integrations/{integration}/resume', {
      id: 'integrations.resume',
      summary: 'Resume pulls, also after refused credentials; what was not started meanwhile starts now',
      body: z.strictObject({
        test: z
          .boolean()
          .default(false)
          .describe(
            'First request one page from the partner; if that fails, nothing is resumed and the answer is 409.',
          ),
      }),
      response: z.object({ resumed: z.literal(true) }),
      handle: async ({ params, body }) => {
        if (!exists(params.integration)) return notFound(`integration ${params.integration}`);
        const done = await resume(runtime, params.integration, body.test);
        return done.kind === 'failed' ? problem(409, done.code, done.message) : ok({ resumed: true });
      },
    }),
    operator('POST /integrations/{integration}/try-now', {
      id: 'integrations.try_now',
      summary: 'Probe the partner’s API now, continue the runs that wait for it, and repeat the syncs that failed',
      response: z.object({
        runs: z.int().describe('Runs that waited and syncs that failed, of all brands with this API.'),
      }),
      handle: async ({ params }) =>
        exists(params.integration)
          ? ok({ runs: await tryPartnerOf(runtime, params.integration) })
          : notFound(`integration ${params.integration}`),
    }),
    operator('POST /integrations/{integration}/refetch', {
      id: 'integrations.refetch',
      summary: 'Request one reservation from the partner again, by its id; the answer is processed like any other',
      body: z.strictObject({ id: z.string().min(1).max(longestId) }),
      response: z.object({
        result: z
          .enum(['applied', 'absent'])
          .describe('`absent`: the partner has no such reservation; nothing changed.'),
        outcome: z.string().nullable().describe('The outcome of the answer: updated, unchanged, cancelled, …'),
        version: z.int().nullable(),
        run_id: z.string().nullable(),
      }),
      handle: async ({ params, body, caller }) => {
        if (!exists(params.integration)) return notFound(`integration ${params.integration}`);
        const done = await refetchReservation(runtime, params.integration, body.id, caller.name);
        if (done.kind === 'failed') return problem(409, done.code, done.message);
        if (done.kind === 'absent') return ok({ result: 'absent', outcome: null, version: null, run_id: null });
        return ok({ result: 'applied', outcome: done.outcome, version: done.version ?? null, run_id: done.runId });
      },
    }),
    operator('POST /integrations/{integration}/resend', {
      id: 'integrations.resend',
      summary: 'Send the newest version of every record, or of one, to a destination again',
      status: 202,
      body: z.strictObject({
        destination: z.string(),
        id: z.string().optional().describe('One reservation or guest.'),
      }),
      response: z.object({ queued: z.int() }),
      handle: async ({ params, body }) => {
        const { integration } = params;
        if (!exists(integration)) return notFound(`integration ${integration}`);
        const { queued } = await resendRecords(runtime, { integration, ...body });
        return ok({ queued });
      },
    }),
    operator('GET /integrations/{integration}/release/{destination}', {
      id: 'integrations.preview_release',
      summary: 'What a destination in preview would get when it is released, in numbers and samples',
      payload: true,
      response: previewSchema,
      handle: async ({ params: { integration, destination } }) =>
        ok(await previewRelease(runtime, integration, destination)),
    }),
    operator('POST /integrations/{integration}/release/{destination}', {
      id: 'integrations.release',
      summary: 'Send what waits for a destination in preview, and everything after it',
      description: 'Takes the destination out of `preview` in the document of the integration.',
      response: z.object({ version: z.int(), file: z.string() }),
      handle: async ({ params: { integration, destination }, caller }) =>
        ok(await release(runtime, integration, destination, caller.name)),
    }),
    admin('POST /integrations/{integration}/consent', {
      id: 'integrations.consent',
      summary: 'A link with which the brand authorizes our access (OAuth 2.0 authorization code)',
      response: z.object({ url: z.string(), expires_at: instant }),
      handle: async ({ params, caller }) => ok(await linkFor(runtime, params.integration, caller.name)),
    }),
    operator('POST /integrations/{integration}/runs', {
      id: 'integrations.run',
      summary: 'Run a sync now, optionally for a date range',
      status: 202,
      body: z.strictObject({
        sync: z.enum(['pre_stay', 'stay', 'post_stay']),
        from: localDate.optional(),
        to: localDate.optional(),
      }),
      response: queued,
      handle: ({ params, body, caller }) => start(runtime, params.integration, body, caller.name),
    }),
    operator('POST /integrations/{integration}/backfill', {
      id: 'integrations.backfill',
      summary: 'Pull everything between two dates, in any status',
      status: 202,
      body: z.strictObject({ from: localDate, to: localDate }),
      response: queued,
      handle: ({ params, body, caller }) => start(runtime, params.integration, body, caller.name),
    }),
  ];
}

async function start(
  runtime: Runtime,
  integration: string,
  { sync, from, to }: { sync?: SyncType; from?: string | undefined; to?: string | undefined },
  by: string,
): Promise<Result> {
  const brand = runtime.active().integrations.get(integration);
  if (brand === undefined) return notFound(`integration ${integration}`);
  const { pull } = brand.body;
  if (pull === undefined) return problem(409, 'pull.no_such_sync', `${integration} does not pull.`);
  if (sync !== undefined && pull.syncs[sync] === undefined && (from === undefined || to === undefined)) {
    return problem(409, 'pull.no_such_sync', `${integration} has no ${sync} sync; give from and to to run it anyway.`);
  }
  if ((from === undefined) !== (to === undefined) || (from !== undefined && to !== undefined && to < from)) {
    return problem(422, 'operate.invalid_input', 'Give both from and to; from must not be after to.');
  }
  const kind = sync === undefined ? 'backfill' : 'manual';
  const started = await startRun(runtime, integration, { kind, requestedBy: by, sync, from, to });
  if (started.kind === 'failed') return problem(409, started.code, started.message);
  const isBusy = started.kind === 'busy';
  return ok({ run_id: isBusy ? started.runId : started.run.runId, already_going: isBusy });
}

const dryRunCounts = z.object({
  fetched: z.int().describe('Reservations that the partner listed.'),
  changed: z.int().describe('Reservations that a run would create or change.'),
  unchanged: z.int(),
  superseded: z.int().describe('Older than the stored state.'),
  dropped: z.int().describe('Dropped by a rule of the brand.'),
  ...counts('dead_lettered', 'requests', 'pages'),
});

export function dryRunRoutes({ runtime }: Node): Route[] {
  return [
    operator('POST /integrations/{integration}/dry-run', {
      id: 'integrations.dry_run',
      payload: true,
      summary: 'Pull one day, all pages, and show the canonical records; nothing is stored, acknowledged or delivered',
      body: z.strictObject({
        day: z.iso.date().optional().describe('The day that is requested; today at the property unless given.'),
      }),
      response: z.object({
        day: z.iso.date(),
        timezone: z.string(),
        status: z.enum(['complete', 'incomplete']),
        counts: dryRunCounts,
        records: z
          .array(
            z.object({
              kind: z.enum(['record', 'dropped', 'dead']),
              outcome: z.string().describe('What a run would have done: created, updated, unchanged, …'),
              id: z.string().optional(),
              record: anyJson.optional(),
              notes: z.array(noteSchema).optional(),
              code: z.string().optional(),
              message: z.string().optional(),
            }),
          )
          .describe('The first 100.'),
        error: z.object({ code: z.string(), message: z.string() }).optional().describe('Why it is incomplete.'),
        warning: z.string().optional().describe('The partner leaves out the first or the last day of each range.'),
        request: exchange.optional(),
      }),
      handle: async ({ params, body }) => {
        const done = await dryRunDay(runtime, params.integration, body.day);
        if (done.kind === 'failed') {
          return done.code === 'documents.unknown_name'
            ? problem(404, 'operate.not_found', noIntegration(params.integration))
            : problem(409, done.code, done.message, done.request && { request: done.request as unknown as Json });
        }
        const { kind: _, ...result } = done;
        return ok(result);
      },
    }),
  ];
}
