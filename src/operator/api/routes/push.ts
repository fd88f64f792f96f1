import { z } from 'zod';
import { type SandboxReport, sandboxReportSchema } from '../../../core/intake/push/sandbox-report.ts';
import { transaction } from '../../../core/store/db/pool.ts';
import { endpointStatus, retireEndpoint } from '../../../core/store/events/endpoints.ts';
import { listEvents, readEvent } from '../../../core/store/events/list.ts';
import { countRejections, listRejections } from '../../../core/store/events/rejections.ts';
import { listSandboxReports, readSandboxReport } from '../../../core/store/events/sandbox.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { addressFor, publicUrl } from '../../operations/endpoints.ts';
import { anyJson, instant } from '../../store/answers.ts';
import { remedyOf } from '../../watch/conditions/feeds.ts';
import { decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { admin, type Node, notFound, ok, okIfFound, problem, type Route, viewer } from '../route.ts';

const issued = z.object({
  endpoint_id: z.string(),
  url: z.string(),
  sandbox_url: z.string(),
  secret: z.string().optional().describe('Only in the response that created it; it is never shown again.'),
});
const rejection = z.object({
  endpoint_id: z.string(),
  at: instant,
  status: z.int(),
  code: z.string(),
  reason: z.string(),
  request_id: z.string(),
  header_names: z.array(z.string()),
  body_bytes: z.int(),
  address: z.string(),
});
const sandboxSummary = sandboxReportSchema
  .pick({ report_id: true, at: true, event_id: true, event: true, would_answer: true, signature: true })
  .extend({ outcome: z.enum(['record', 'dead_letter', 'dropped', 'fetched_first', 'ignored', 'none']) });
const summaryOf = ({ report_id, at, event_id, event, would_answer, signature, outcome }: SandboxReport) => ({
  report_id,
  at,
  event_id,
  ...(event !== undefined && { event }),
  would_answer,
  signature,
  outcome: outcome.kind,
});
const path = '/integrations/{integration}/endpoint';
const dayMs = 86_400_000;

export function endpointRoutes({ runtime }: Node): Route[] {
  const { pool } = runtime;
  const issue = async (integration: string, rotation: { readonly rotate?: true; readonly overlapMs?: number } = {}) => {
    if (!runtime.active().integrations.get(integration)?.body.push.enabled) {
      return problem(409, 'push.no_endpoint', `Push is not enabled for ${integration}.`);
    }
    return ok(await addressFor(runtime, integration, rotation));
  };
  return [
    viewer(`GET ${path}`, {
      id: 'endpoint.get',
      summary: 'The webhook URL of an integration and its active secrets; null before one is issued',
      response: z
        .object({
          endpoint_id: z.string(),
          url: z.string(),
          sandbox_url: z.string().nullable(),
          issued_at: instant,
          secrets: z.array(z.object({ secret_no: z.int(), issued_at: z.string(), expires_at: z.string().nullable() })),
          first_event_at: instant.nullable(),
          last_event_at: instant.nullable(),
        })
        .nullable(),
      handle: async ({ params }) => {
        const status = await endpointStatus(pool, params.integration);
        if (status === undefined) return ok(null);
        const { sandbox_id, ...shown } = status;
        const base = `${await publicUrl(runtime)}/webhooks/`;
        const sandbox_url = sandbox_id === null ? null : base + sandbox_id;
        return ok({ ...shown, url: base + shown.endpoint_id, sandbox_url });
      },
    }),
    admin(`POST ${path}`, {
      id: 'endpoint.issue',
      summary: 'Issue the endpoint; the first call returns the secret once',
      response: issued,
      handle: ({ params }) => issue(params.integration),
    }),
    admin(`POST ${path}/rotate`, {
      id: 'endpoint.rotate',
      summary: 'Create a new secret; the previous one stays valid during the overlap',
      body: z.strictObject({ overlap_hours: z.number().min(0).max(720).default(24) }),
      response: issued,
      handle: ({ params, body }) =>
        issue(params.integration, { rotate: true, overlapMs: body.overlap_hours * 3_600_000 }),
    }),
    admin(`DELETE ${path}`, {
      id: 'endpoint.retire',
      summary: 'Retire the endpoint: its URL answers 410 from now on',
      response: z.object({ retired: z.literal(true) }),
      handle: async ({ params }) => {
        const retired = await transaction(pool, (tx) => retireEndpoint(tx, params.integration));
        runtime.wake.signal('documents');
        return retired === undefined ? notFound(`endpoint of ${params.integration}`) : ok({ retired: true });
      },
    }),
    viewer('GET /integrations/{integration}/rejections', {
      id: 'rejections.list',
      summary: 'The last refused webhooks with the reasons; no payloads',
      response: rejections,
      handle: async ({ params }) => ok(await rejectionsOf(runtime, params.integration)),
    }),
    viewer('GET /rejections', {
      id: 'rejections.unknown',
      summary: 'Webhooks sent to unknown endpoints',
      response: rejections,
      handle: async () => ok(await rejectionsOf(runtime, '')),
    }),
    viewer('GET /integrations/{integration}/sandbox-reports', {
      id: 'sandbox.list',
      summary: 'Sandbox reports, newest first; without payloads',
      response: z.object({ items: z.array(sandboxSummary) }),
      handle: async ({ params }) => {
        const { sandbox_id: sandbox } = (await endpointStatus(pool, params.integration)) ?? {};
        return ok({ items: sandbox == null ? [] : (await listSandboxReports(pool, sandbox)).map(summaryOf) });
      },
    }),
    viewer('GET /integrations/{integration}/sandbox-reports/{report_id}', {
      id: 'sandbox.get',
      summary: 'One sandbox report: signature, envelope, and the record that would result',
      payload: true,
      response: sandboxReportSchema,
      handle: async ({ params }) => {
        const { sandbox_id: sandbox } = (await endpointStatus(pool, params.integration)) ?? {};
        const stored = sandbox == null ? undefined : await readSandboxReport(pool, sandbox, params.report_id);
        return okIfFound(stored, `sandbox report ${params.report_id} of ${params.integration}`);
      },
    }),
  ];
}

const rejections = z.object({
  items: z.array(rejection),
  last_day: z.array(
    z.object({
      code: z.string(),
      reason: z.string(),
      count: z.int(),
      remedy: z.string().describe('The cause, and what to do.'),
    }),
  ),
});

async function rejectionsOf({ pool }: Runtime, integration: string) {
  const [items, counts] = await Promise.all([
    listRejections(pool, integration),
    countRejections(pool, integration, Date.now() - dayMs),
  ]);
  return {
    items: items.map(({ integration: _, ...shown }) => shown),
    last_day: counts.map((one) => ({ ...one, remedy: remedyOf(one) })),
  };
}

const event = z.object({
  integration: z.string(),
  seq: z.int(),
  event_id: z.string(),
  event: z.string(),
  occurred_at: instant,
  received_at: instant,
  state: z.enum(['pending', 'hydrate', 'waiting', 'done', 'dead']),
  outcome: z.string().nullable(),
  type: z.string().nullable(),
  id: z.string().nullable().describe('The reservation or guest that it changed.'),
  version: z.int().nullable(),
  attempt: z.int(),
});

export function eventRoutes({ runtime: { pool } }: Node): Route[] {
  return [
    viewer('GET /events', {
      id: 'events.list',
      summary: 'Accepted webhooks, newest first; without payloads',
      scope: 'any',
      query: z.strictObject({
        ...pageQuery,
        integration: z.string().optional(),
        state: event.shape.state.optional(),
        event_id: z.string().max(500).optional(),
      }),
      response: pageOf(event),
      handle: async ({ query, within }) => {
        const [receivedAt, seq] = decodeCursor(query.cursor, 'time', 'number');
        const rows = await listEvents(pool, {
          integrations: within,
          state: query.state,
          eventId: query.event_id,
          before: receivedAt === undefined ? undefined : { receivedAt, seq: Number(seq) || 0 },
          limit: query.limit + 1,
        });
        return ok(paged(rows, query.limit, (row) => [row.received_at.toISOString(), row.seq]));
      },
    }),
    viewer('GET /integrations/{integration}/events/{seq}', {
      id: 'events.get',
      summary: 'One event with its payload, as long as it is retained',
      payload: true,
      params: z.strictObject({ integration: z.string(), seq: z.string().regex(/^\d{1,18}$/) }),
      response: event.extend({ body: anyJson }),
      handle: async ({ params: { integration, seq } }) =>
        okIfFound(await readEvent(pool, integration, seq), `event ${seq} of ${integration}`),
    }),
  ];
}
