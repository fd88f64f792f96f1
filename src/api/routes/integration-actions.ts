import { z } from 'zod';
import { longestId } from '../../canonical/limits.ts';
import type { ErrorCode } from '../../errors.ts';
import type { Refetched } from '../../operations/refetch.ts';
import type { Json, SyncType } from '../../terms.ts';
import { anyJson, integrationParam, notFound, ok, problem, type Result, type Route, route } from '../route.ts';
import type { IntegrationView } from './integrations.ts';

export interface IntegrationActionPorts {
  readonly views: () => readonly IntegrationView[];
  readonly pause: (integration: string, by: string, reason: string | null) => Promise<void>;
  /** With a test, only if the partner answers a request with the brand's credentials. */
  readonly resume: (
    integration: string,
    test: boolean,
  ) => Promise<
    { readonly kind: 'resumed' } | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
  >;
  /** Probes the partner's API and makes the runs that wait for it due. */
  readonly tryNow: (integration: string) => Promise<{ readonly runs: number }>;
  /** Requests one reservation from the partner by `pull.single`. */
  readonly refetch: (integration: string, id: string, by: string) => Promise<Refetched>;
  readonly resend: (wanted: {
    readonly integration: string;
    readonly destination: string;
    readonly id: string | undefined;
  }) => Promise<{ readonly queued: number }>;
  /** Processes kept payloads again under the documents in force. */
  readonly reprocess: (wanted: {
    readonly integration: string;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly preview: boolean;
  }) => Promise<{
    readonly records: number;
    readonly changed: number;
    readonly unchanged: number;
    readonly refused: number;
    readonly samples: readonly { readonly id: string; readonly diff: Json }[];
  }>;
  readonly run: (wanted: {
    readonly integration: string;
    readonly sync?: SyncType;
    readonly from?: string;
    readonly to?: string;
    readonly by: string;
  }) => Promise<
    | { readonly kind: 'queued' | 'busy'; readonly runId: string }
    | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
  >;
}

const queued = z.object({ run_id: z.string(), already_going: z.boolean() });
const localDate = z.iso.date();

/** Operator actions on an integration. */
export function integrationActionRoutes(ports: IntegrationActionPorts): Route[] {
  const exists = (name: string) => ports.views().some((view) => view.name === name);
  return [
    route({
      method: 'POST',
      path: '/integrations/{integration}/pause',
      id: 'integrations.pause',
      summary: 'Pause scheduled pulls; events are still accepted',
      tag: 'integrations',
      role: 'operator',
      scope: 'param',
      params: integrationParam,
      body: z.strictObject({ reason: z.string().max(500).optional() }),
      response: z.object({ paused: z.literal(true) }),
      handle: async ({ params, body, caller }) => {
        if (!exists(params.integration)) return notFound(`integration ${params.integration}`);
        await ports.pause(params.integration, caller.name, body.reason ?? null);
        return ok({ paused: true });
      },
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/resume',
      id: 'integrations.resume',
      summary: 'Resume pulls, also after refused credentials; what was not started meanwhile starts now',
      tag: 'integrations',
      role: 'operator',
      scope: 'param',
      params: integrationParam,
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
        const done = await ports.resume(params.integration, body.test);
        return done.kind === 'failed' ? problem(409, done.code, done.message) : ok({ resumed: true });
      },
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/try-now',
      id: 'integrations.try_now',
      summary: 'Probe the partner’s API now, and continue the runs that wait for it',
      tag: 'integrations',
      role: 'operator',
      scope: 'param',
      params: integrationParam,
      body: z.strictObject({}),
      response: z.object({ runs: z.int().describe('Runs that waited, of all brands with this API.') }),
      handle: async ({ params }) =>
        exists(params.integration)
          ? ok(await ports.tryNow(params.integration))
          : notFound(`integration ${params.integration}`),
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/refetch',
      id: 'integrations.refetch',
      summary: 'Request one reservation from the partner again, by its id; the answer is processed like any other',
      tag: 'integrations',
      role: 'operator',
      scope: 'param',
      params: integrationParam,
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
        const done = await ports.refetch(params.integration, body.id, caller.name);
        if (done.kind === 'failed') return problem(409, done.code, done.message);
        if (done.kind === 'absent') return ok({ result: 'absent', outcome: null, version: null, run_id: null });
        return ok({ result: 'applied', outcome: done.outcome, version: done.version ?? null, run_id: done.runId });
      },
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/resend',
      id: 'integrations.resend',
      summary: 'Send the newest version of every record, or of one, to a destination again',
      tag: 'integrations',
      role: 'operator',
      scope: 'param',
      status: 202,
      params: integrationParam,
      body: z.strictObject({
        destination: z.string(),
        id: z.string().optional().describe('One reservation or guest.'),
      }),
      response: z.object({ queued: z.int() }),
      handle: async ({ params, body }) => {
        const view = ports.views().find(({ name }) => name === params.integration);
        if (view === undefined) return notFound(`integration ${params.integration}`);
        if (!view.deliver.includes(body.destination)) {
          return problem(422, 'operate.invalid_input', `${view.name} does not deliver to ${body.destination}.`);
        }
        const { integration } = params;
        const { queued } = await ports.resend({ integration, destination: body.destination, id: body.id });
        return ok({ queued });
      },
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/reprocess',
      id: 'integrations.reprocess',
      summary: 'Process stored payloads again under the documents in force, after a change of the mapping or the rules',
      description: 'With preview, the answer shows what would change, and nothing is changed.',
      tag: 'integrations',
      role: 'operator',
      scope: 'param',
      payload: true,
      params: integrationParam,
      body: z.strictObject({
        preview: z.boolean().default(true),
        from: localDate.optional().describe('Only payloads received on or after this day (UTC).'),
        to: localDate.optional(),
      }),
      response: z.object({
        records: z.int().describe('Reservations with a stored payload.'),
        changed: z.int(),
        unchanged: z.int(),
        refused: z.int().describe('Reservations that the documents in force refuse or drop; they do not change.'),
        samples: z.array(z.object({ id: z.string(), diff: anyJson })),
      }),
      handle: async ({ params, body }) => {
        if (!exists(params.integration)) return notFound(`integration ${params.integration}`);
        return ok(await ports.reprocess({ integration: params.integration, ...body }));
      },
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/runs',
      id: 'integrations.run',
      summary: 'Run a sync now, optionally for a date range',
      tag: 'integrations',
      role: 'operator',
      scope: 'param',
      status: 202,
      params: integrationParam,
      body: z.strictObject({
        sync: z.enum(['pre_stay', 'stay', 'post_stay']),
        from: localDate.optional(),
        to: localDate.optional(),
      }),
      response: queued,
      handle: ({ params, body, caller }) => start(ports, params.integration, body, caller.name),
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/backfill',
      id: 'integrations.backfill',
      summary: 'Pull everything between two dates, in any status',
      tag: 'integrations',
      role: 'operator',
      scope: 'param',
      status: 202,
      params: integrationParam,
      body: z.strictObject({ from: localDate, to: localDate }),
      response: queued,
      handle: ({ params, body, caller }) => start(ports, params.integration, body, caller.name),
    }),
  ];
}

async function start(
  ports: IntegrationActionPorts,
  integration: string,
  { sync, from, to }: { sync?: SyncType; from?: string | undefined; to?: string | undefined },
  by: string,
): Promise<Result> {
  const view = ports.views().find(({ name }) => name === integration);
  if (view === undefined) return notFound(`integration ${integration}`);
  if (view.pull === null) return problem(409, 'pull.no_such_sync', `${integration} does not pull.`);
  if (sync !== undefined && view.pull.syncs[sync] === undefined && (from === undefined || to === undefined)) {
    return problem(409, 'pull.no_such_sync', `${integration} has no ${sync} sync; give from and to to run it anyway.`);
  }
  if ((from === undefined) !== (to === undefined) || (from !== undefined && to !== undefined && to < from)) {
    return problem(422, 'operate.invalid_input', 'Give both from and to; from must not be after to.');
  }
  const found = await ports.run({
    integration,
    by,
    ...(sync && { sync }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  });
  if (found.kind === 'failed') return problem(409, found.code, found.message);
  return ok({ run_id: found.runId, already_going: found.kind === 'busy' });
}
